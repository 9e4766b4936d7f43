import static org.openjdk.btrace.core.BTraceUtils.*;

import org.openjdk.btrace.core.aggregation.Aggregation;
import org.openjdk.btrace.core.aggregation.AggregationFunction;
import org.openjdk.btrace.core.annotations.BTrace;
import org.openjdk.btrace.core.annotations.Duration;
import org.openjdk.btrace.core.annotations.Kind;
import org.openjdk.btrace.core.annotations.Location;
import org.openjdk.btrace.core.annotations.OnMethod;
import org.openjdk.btrace.core.annotations.OnTimer;
import org.openjdk.btrace.core.types.AnyType;

/** Question 2: the time of {@code left} by the customer of the order, which is read by reflection. */
@BTrace
public class Customer {
    private static Aggregation times = Aggregations.newAggregation(AggregationFunction.SUM);

    @OnMethod(clazz = "shop.Stock", method = "left", location = @Location(Kind.RETURN))
    public static void add(@Duration long time, AnyType order) {
        Object customer = get(field(classOf(order), "customer"), order);
        Aggregations.addToAggregation(times, Aggregations.newAggregationKey(Strings.str(customer)), time);
    }

    @OnTimer(5000)
    public static void end() {
        Aggregations.printAggregation("ns", times);
        exit(0);
    }
}
