import static org.openjdk.btrace.core.BTraceUtils.*;

import org.openjdk.btrace.core.aggregation.Aggregation;
import org.openjdk.btrace.core.aggregation.AggregationFunction;
import org.openjdk.btrace.core.annotations.BTrace;
import org.openjdk.btrace.core.annotations.Kind;
import org.openjdk.btrace.core.annotations.Location;
import org.openjdk.btrace.core.annotations.OnMethod;
import org.openjdk.btrace.core.annotations.OnTimer;
import org.openjdk.btrace.core.annotations.Where;

/** Question 4: the class of each monitor that is entered. */
@BTrace
public class Lock {
    private static Aggregation counts = Aggregations.newAggregation(AggregationFunction.COUNT);

    @OnMethod(clazz = "/shop\\..*/", method = "/.*/", location = @Location(value = Kind.SYNC_ENTRY, where = Where.AFTER))
    public static void add(Object lock) {
        Aggregations.addToAggregation(counts, Aggregations.newAggregationKey(name(classOf(lock))), 1);
    }

    @OnTimer(5000)
    public static void end() {
        Aggregations.printAggregation("count", counts);
        exit(0);
    }
}
