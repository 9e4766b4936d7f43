import static org.openjdk.btrace.core.BTraceUtils.*;

import org.openjdk.btrace.core.aggregation.Aggregation;
import org.openjdk.btrace.core.aggregation.AggregationFunction;
import org.openjdk.btrace.core.annotations.BTrace;
import org.openjdk.btrace.core.annotations.OnMethod;
import org.openjdk.btrace.core.annotations.OnTimer;
import org.openjdk.btrace.core.types.AnyType;

/** Question 3: the prepared statements. */
@BTrace
public class Sql {
    private static Aggregation counts = Aggregations.newAggregation(AggregationFunction.COUNT);

    @OnMethod(clazz = "+java.sql.Connection", method = "prepareStatement")
    public static void add(AnyType[] arguments) {
        Aggregations.addToAggregation(counts, Aggregations.newAggregationKey(Strings.str(arguments[0])), 1);
    }

    @OnTimer(5000)
    public static void end() {
        Aggregations.printAggregation("count", counts);
        exit(0);
    }
}
