import static org.openjdk.btrace.core.BTraceUtils.*;

import org.openjdk.btrace.core.aggregation.Aggregation;
import org.openjdk.btrace.core.aggregation.AggregationFunction;
import org.openjdk.btrace.core.aggregation.AggregationKey;
import org.openjdk.btrace.core.annotations.BTrace;
import org.openjdk.btrace.core.annotations.Duration;
import org.openjdk.btrace.core.annotations.Kind;
import org.openjdk.btrace.core.annotations.Location;
import org.openjdk.btrace.core.annotations.OnMethod;
import org.openjdk.btrace.core.annotations.OnTimer;
import org.openjdk.btrace.core.annotations.ProbeClassName;
import org.openjdk.btrace.core.annotations.ProbeMethodName;

/** Question 1: the time of each method, callees included. */
@BTrace
public class Slow {
    private static Aggregation times = Aggregations.newAggregation(AggregationFunction.SUM);
    private static Aggregation counts = Aggregations.newAggregation(AggregationFunction.COUNT);

    @OnMethod(clazz = "/shop\\..*/", method = "/.*/", location = @Location(Kind.RETURN))
    public static void add(@ProbeClassName String type, @ProbeMethodName String method, @Duration long time) {
        AggregationKey key = Aggregations.newAggregationKey(type, method);
        Aggregations.addToAggregation(times, key, time);
        Aggregations.addToAggregation(counts, key, time);
    }

    @OnTimer(5000)
    public static void end() {
        Aggregations.printAggregation("ns", times);
        Aggregations.printAggregation("count", counts);
        exit(0);
    }
}
