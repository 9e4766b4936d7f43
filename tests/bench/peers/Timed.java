import org.openjdk.btrace.core.BTraceUtils;
import org.openjdk.btrace.core.annotations.BTrace;
import org.openjdk.btrace.core.annotations.Duration;
import org.openjdk.btrace.core.annotations.Kind;
import org.openjdk.btrace.core.annotations.Location;
import org.openjdk.btrace.core.annotations.OnExit;
import org.openjdk.btrace.core.annotations.OnMethod;

/** An inclusive timer in BTrace. */
@BTrace
public class Timed {
    private static long calls;
    private static long total;

    @OnMethod(clazz = "HotCall", method = "step", location = @Location(Kind.RETURN))
    public static void step(@Duration long took) {
        calls++;
        total += took;
    }

    @OnExit
    public static void end(int code) {
        BTraceUtils.println("hits: " + calls);
    }
}
