import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Calls `leaf` on many call paths. The program counts the stacks itself, by stack traces of
 * exceptions created there, and prints the counts at the end. `leaf` has one line, so a point at
 * its entry has the line of the exception. With an argument, the program first runs many
 * iterations of a loop that stays on the stack until standard input has a line.
 */
public class Leads {
    static final Map<String, Integer> ACCOUNT = new TreeMap<>();
    static boolean counts;
    static int sum;

    static void account() {
        if (counts) {
            StackTraceElement[] trace = new Throwable().getStackTrace();
            List<String> lines = new ArrayList<>();
            for (int i = 1; i < trace.length; i++) {
                StackTraceElement one = trace[i];
                String line = one.getLineNumber() > 0 ? ":" + one.getLineNumber() : "";
                lines.add(one.getClassName() + "." + one.getMethodName() + line);
            }
            ACCOUNT.merge(String.join(" < ", lines), 1, Integer::sum);
        }
    }

    static void leaf(int x) { account(); sum += x; }

    static void twice() {
        leaf(1);
        leaf(2);
    }

    static void often(int n) {
        for (int i = 0; i < n; i++) {
            leaf(i);
        }
    }

    static void deep(int n) {
        if (n > 0) {
            deep(n - 1);
        } else {
            leaf(n);
        }
    }

    Leads() {
        leaf(3);
    }

    public static void called() {
        leaf(4);
    }

    static void all() throws Exception {
        twice();
        often(7);
        deep(3);
        deep(5);
        deep(300);
        new Leads();
        Runnable lambda = () -> leaf(5);
        lambda.run();
        List.of(3, 1, 2).forEach(Leads::leaf);
        List<Integer> sorted = new ArrayList<>(List.of(2, 1));
        sorted.sort((a, b) -> {
            leaf(a);
            return a - b;
        });
        Leads.class.getMethod("called").invoke(null);
        try {
            leaf(6);
        } finally {
            leaf(7);
        }
    }

    static void rounds(int n) throws Exception {
        for (int round = 0; round < n; round++) {
            all();
        }
    }

    static int waits(BufferedReader in) throws Exception {
        int turns = 0;
        for (;;) {
            leaf(turns++);
            if (in.ready()) {
                in.readLine();
                break;
            }
            Thread.sleep(1);
        }
        // From here on, the plan and the program count the same calls.
        counts = true;
        System.out.println("counts");
        in.readLine();
        for (int i = 0; i < 50; i++) {
            leaf(i);
        }
        rounds(10);
        return turns;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        if (args.length > 0) {
            waits(new BufferedReader(new InputStreamReader(System.in)));
        } else {
            counts = true;
            rounds(10);
        }
        counts = false;
        ACCOUNT.forEach((stack, n) -> System.out.println("account " + n + " " + stack));
        System.out.println("sum " + (sum > 0));
    }
}
