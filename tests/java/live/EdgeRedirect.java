import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A running loop that takes the left branch in even iterations and the right one in odd
 * iterations. Fragments of `loop`:
 *
 * <pre>
 *   f0 → f1 header → f2 even? → f3 left  → f5 publish → f1
 *                         └───→ f4 right ──┘             f1 → f6 end
 * </pre>
 *
 * Standard input: `show` prints the counts that the loop has published, `stop` (or the end of the
 * input) ends the program. The sum of left and right must equal the number of iterations, unless a
 * fragment was skipped.
 */
public class EdgeRedirect {
    static volatile boolean stopped;
    static volatile long left;
    static volatile long right;
    static volatile long turns;

    static String loop() {
        long l = 0;
        long r = 0;
        long i = 0;
        while (!stopped) {
            if ((i & 1) == 0) {
                l++;
            } else {
                r++;
            }
            i++;
            left = l;
            right = r;
            turns = i;
        }
        return "left " + l + " right " + r + " turns " + i;
    }

    /** An edge from f0 to f2 would have no value for `extra` here. */
    static int guarded(int n) {
        int r = 0;
        if (n > 5) {
            int extra = n * 2;
            if (extra > 20) {
                r += extra;
            }
        }
        return r;
    }

    public static void main(String[] args) {
        Thread listener = new Thread(() -> {
            listen();
        });
        listener.setDaemon(true);
        listener.start();
        System.out.println("pid " + ProcessHandle.current().pid());
        System.out.println("guarded " + guarded(3) + " " + guarded(8) + " " + guarded(20));
        System.out.println(loop());
        System.out.println("guarded " + guarded(3) + " " + guarded(8) + " " + guarded(20));
    }

    private static void listen() {
        try {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
                System.out.println("left " + left + " right " + right + " turns " + turns);
            }
        } catch (java.io.IOException e) {
            System.err.println(e);
        }
        stopped = true;
    }
}
