import static org.openjdk.btrace.core.BTraceUtils.*;

import org.openjdk.btrace.core.aggregation.Aggregation;
import org.openjdk.btrace.core.aggregation.AggregationFunction;
import org.openjdk.btrace.core.annotations.BTrace;
import org.openjdk.btrace.core.annotations.Kind;
import org.openjdk.btrace.core.annotations.Location;
import org.openjdk.btrace.core.annotations.OnMethod;
import org.openjdk.btrace.core.annotations.OnTimer;
import org.openjdk.btrace.core.annotations.ProbeMethodName;

/** Question 8: what each method allocates. */
@BTrace
public class Allocations {
    private static Aggregation counts = Aggregations.newAggregation(AggregationFunction.COUNT);

    @OnMethod(clazz = "/shop\\..*/", method = "/.*/", location = @Location(value = Kind.NEW, clazz = "/.*/"))
    public static void object(@ProbeMethodName String method, String type) {
        Aggregations.addToAggregation(counts, Aggregations.newAggregationKey(method, type), 1);
    }

    @OnMethod(clazz = "/shop\\..*/", method = "/.*/", location = @Location(value = Kind.NEWARRAY, clazz = "/.*/"))
    public static void array(@ProbeMethodName String method, String type, int dimensions) {
        Aggregations.addToAggregation(counts, Aggregations.newAggregationKey(method, type), 1);
    }

    @OnTimer(5000)
    public static void end() {
        Aggregations.printAggregation("count", counts);
        exit(0);
    }
}
