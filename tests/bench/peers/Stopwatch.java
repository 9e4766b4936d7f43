import org.jboss.byteman.rule.helper.Helper;
import org.jboss.byteman.rule.Rule;

/** What Byteman's rules call: plain fields, no lock, the cheapest that a helper can be. One thread may use it. */
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

    /** Counts, and says when it did for the first time under a name. */
    public void count(String name) {
        if (!last.equals(name)) {
            last = name;
            System.out.println("first " + name + " " + System.nanoTime());
        }
        calls++;
    }
}
