import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Three threads call methods without loops, in which edits create loops, until standard input has
 * `stop` or ends. If a thread cannot leave its call, the program does not print `ended 3`.
 * Fragments:
 *
 * <pre>
 *   alone   f0 → f1, f2                              back   f0 → f1 → f2 → f3 → f4
 *                                                            ╰───────╯↘ ╰──────╯
 * </pre>
 */
public class EditLoops {
    static volatile boolean stopped;
    static final Object LOCK = new Object();

    static long alone(long n) {
        if (n < 2) {
            return 1;
        }
        return n + 1;
    }

    static long back(long n, String text) {
        long a = n + 1;
        if (a > 1) {
            a = a * 3;
        }
        if (text.length() > 2) {
            a += text.length();
        }
        return a;
    }

    static long locked(long n) {
        long a = n;
        synchronized (LOCK) {
            if (a < 100) {
                a += 2;
            }
            if (a > 1) {
                a += 3;
            }
        }
        return a;
    }

    static long wrong;

    static void check(boolean right) {
        if (!right) {
            wrong++;
        }
    }

    static Thread start(Runnable one) {
        Thread thread = new Thread(() -> {
            while (!stopped) {
                one.run();
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        Thread[] all = {start(() -> alone(1)), start(() -> back(1, "text")), start(() -> locked(1))};
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            System.out.println(line);
        }
        stopped = true;
        int ended = 0;
        for (Thread one : all) {
            one.join(5000);
            ended += one.isAlive() ? 0 : 1;
        }
        check(alone(1) == 1 && alone(7) == 8 && back(1, "text") == 10 && locked(1) == 6);
        System.out.println("ended " + ended + " wrong " + wrong);
    }
}
