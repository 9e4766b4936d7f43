import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * One activation that runs until standard input has `stop` or ends, or until 120 seconds have
 * passed. At the end it prints the numbers of iterations of its loops, and a sum that follows from
 * them, so that a lost or repeated iteration is visible. Each iteration calls `step` once, for
 * instruments that are attached after the loop began.
 */
public class RunningLoop {
    static final int INNER = 10;
    static volatile boolean stopped;

    static long step(long n) {
        return n + 1;
    }

    static String loop(long seed) {
        long turns = 0;
        long sum = seed;
        double half = 0;
        while (!stopped) {
            for (int i = 0; i < INNER; i++) {
                sum += i;
            }
            half += 0.5;
            turns = step(turns);
        }
        return "turns " + turns + " sum " + sum + " half " + (long) (half * 2);
    }

    public static void main(String[] args) throws Exception {
        long deadline = System.nanoTime() + 120_000_000_000L;
        Thread listener = new Thread(() -> {
            listen();
        });
        listener.setDaemon(true);
        listener.start();
        Thread guard = new Thread(() -> {
            guard(deadline);
        });
        guard.setDaemon(true);
        guard.start();
        System.out.println("pid " + ProcessHandle.current().pid());
        System.out.println(loop(7));
    }

    private static void listen() {
        try {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            String line = in.readLine();
            while (line != null && !line.equals("stop")) {
                line = in.readLine();
            }
        } catch (java.io.IOException e) {
            System.err.println(e);
        }
        stopped = true;
    }

    private static void guard(long deadline) {
        while (System.nanoTime() < deadline) {
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                return;
            }
        }
        stopped = true;
    }
}
