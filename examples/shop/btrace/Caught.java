import static org.openjdk.btrace.core.BTraceUtils.*;

import org.openjdk.btrace.core.aggregation.Aggregation;
import org.openjdk.btrace.core.aggregation.AggregationFunction;
import org.openjdk.btrace.core.annotations.BTrace;
import org.openjdk.btrace.core.annotations.Kind;
import org.openjdk.btrace.core.annotations.Location;
import org.openjdk.btrace.core.annotations.OnMethod;
import org.openjdk.btrace.core.annotations.OnTimer;

/** Question 9: the classes of the exceptions that the service catches. */
@BTrace
public class Caught {
    private static Aggregation counts = Aggregations.newAggregation(AggregationFunction.COUNT);

    @OnMethod(clazz = "/shop\\..*/", method = "/.*/", location = @Location(Kind.CATCH))
    public static void add(Throwable caught) {
        Aggregations.addToAggregation(counts, Aggregations.newAggregationKey(name(classOf(caught))), 1);
    }

    @OnTimer(5000)
    public static void end() {
        Aggregations.printAggregation("count", counts);
        exit(0);
    }
}
