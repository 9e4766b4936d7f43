import static org.openjdk.btrace.core.BTraceUtils.*;

import org.openjdk.btrace.core.aggregation.Aggregation;
import org.openjdk.btrace.core.aggregation.AggregationFunction;
import org.openjdk.btrace.core.annotations.BTrace;
import org.openjdk.btrace.core.annotations.OnMethod;
import org.openjdk.btrace.core.annotations.OnTimer;

/** Question 5: the stacks that call {@code discount}. */
@BTrace
public class Callers {
    private static Aggregation counts = Aggregations.newAggregation(AggregationFunction.COUNT);

    @OnMethod(clazz = "shop.Prices", method = "discount")
    public static void add() {
        Aggregations.addToAggregation(counts, Aggregations.newAggregationKey(Threads.jstackStr(6)), 1);
    }

    @OnTimer(5000)
    public static void end() {
        Aggregations.printAggregation("count", counts);
        exit(0);
    }
}
