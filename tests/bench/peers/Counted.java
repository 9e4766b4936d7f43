import org.openjdk.btrace.core.BTraceUtils;
import org.openjdk.btrace.core.aggregation.Aggregation;
import org.openjdk.btrace.core.aggregation.AggregationFunction;
import org.openjdk.btrace.core.aggregation.AggregationKey;
import org.openjdk.btrace.core.annotations.BTrace;
import org.openjdk.btrace.core.annotations.OnExit;
import org.openjdk.btrace.core.annotations.OnMethod;
import org.openjdk.btrace.core.types.AnyType;

/** BTrace's tables. The comment is replaced by the probe. */
@BTrace
public class Counted {
    private static long calls;
    private static final Aggregation BY = BTraceUtils.Aggregations.newAggregation(AggregationFunction.COUNT);
    private static final Aggregation SUM = BTraceUtils.Aggregations.newAggregation(AggregationFunction.SUM);
    private static final Aggregation LEAST = BTraceUtils.Aggregations.newAggregation(AggregationFunction.MINIMUM);
    private static final Aggregation GREATEST = BTraceUtils.Aggregations.newAggregation(AggregationFunction.MAXIMUM);

    @OnMethod(clazz = "HotProbe", method = "step")
    public static void step(long value, int turn, AnyType item) {
        calls++;
        /* probe */
    }

    @OnExit
    public static void end(int code) {
        BTraceUtils.println("hits: " + calls);
    }
}
