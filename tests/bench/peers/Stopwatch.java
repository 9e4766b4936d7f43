import org.jboss.byteman.rule.helper.Helper;
import org.jboss.byteman.rule.Rule;

/**
 * The helper that Byteman's rules call. It has plain fields and no lock, which is as fast as a
 * helper can be. For one thread only.
 */
public class Stopwatch extends Helper {
    private static long begun;
    private static long calls;
    private static long total;
    private static String last = "";

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("hits: " + calls)));
    }

    public Stopwatch(Rule rule) {
        super(rule);
    }

    public void begin() {
        begun = System.nanoTime();
    }

    public void end() {
        total += System.nanoTime() - begun;
        calls++;
    }

    /** Counts a call, and prints the time of the first call under each name. */
    public void count(String name) {
        if (!last.equals(name)) {
            last = name;
            System.out.println("first " + name + " " + System.nanoTime());
        }
        calls++;
    }
}
