import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Programs with many calls, until standard input has `stop` or ends. `contexts`: a binary tree of calls, whose
 * 19 levels have 2^20 - 1 contexts. `events`: short calls in one thread, as many as it can.
 */
public class Deep {
    static volatile boolean stopped;
    static volatile long sink;

    static void left(int depth) {
        if (depth > 0) {
            left(depth - 1);
            right(depth - 1);
        }
    }

    static void right(int depth) {
        if (depth > 0) {
            left(depth - 1);
            right(depth - 1);
        }
    }

    static long leaf(long n) {
        return n * 31 + 7;
    }

    static long middle(long n) {
        return leaf(n) + leaf(n + 1) + leaf(n + 2);
    }

    static long outer(long n) {
        return middle(n) + middle(n + 1);
    }

    static void contexts() {
        while (!stopped) {
            left(18);
            right(18);
        }
    }

    static void events() {
        for (long n = 0; !stopped; n++) {
            sink = outer(n);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(args[0].equals("events") ? Deep::events : Deep::contexts, "worker");
        worker.setDaemon(true);
        worker.start();
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line = in.readLine();
        while (line != null && !line.equals("stop")) {
            line = in.readLine();
        }
        stopped = true;
    }
}
