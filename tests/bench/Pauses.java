import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/**
 * A program for measuring attachments: {@code Pauses CLASSES METHODS THREADS}. Threads repeatedly
 * call all methods of the classes {@code Many0}, {@code Many1}, … One more thread runs an endless
 * loop and calls {@code step} in each iteration. A pause meter repeatedly sleeps for a short time,
 * and keeps the longest delay of its wake-up. Whatever stops all threads delays the meter as well.
 *
 * <p>Each line on standard input is answered: {@code pause} with the longest delay since the last
 * such line in microseconds, {@code round} when every method has been called once more; {@code
 * stop} ends the program.
 */
public final class Pauses {
    private static final long NAP = 100_000;
    private static volatile boolean stopped;
    private static volatile long longest;
    private static volatile long rounds;
    private static volatile long kept;

    private Pauses() {}

    public static void main(String[] args) throws Exception {
        int classes = Integer.parseInt(args[0]), threads = Integer.parseInt(args[1]);
        Caller[] callers = new Caller[classes];
        for (int i = 0; i < classes; i++) {
            callers[i] = (Caller) Class.forName("Many" + i).getConstructor().newInstance();
        }
        for (int i = 0; i < threads; i++) {
            int place = i;
            start(() -> work(callers, place == 0));
        }
        start(Pauses::spin);
        start(Pauses::watch);
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            if (line.equals("pause")) {
                long was = longest;
                longest = 0;
                System.out.println("pause " + was / 1000);
            } else {
                long begin = rounds;
                while (rounds < begin + 2) {
                    Thread.sleep(1);
                }
                System.out.println("round " + rounds);
            }
        }
        stopped = true;
        System.exit(0);
    }

    private static void start(Runnable job) {
        Thread thread = new Thread(job);
        thread.setDaemon(true);
        thread.start();
    }

    private static void work(Caller[] callers, boolean counts) {
        long value = 1;
        while (!stopped) {
            for (Caller caller : callers) {
                value = caller.all(value);
            }
            kept = value;
            if (counts) {
                rounds++;
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** One activation that lasts as long as the program. */
    private static void spin() {
        long turns = 0;
        while (!stopped) {
            turns = step(turns);
            if ((turns & 0xfff) == 0) {
                LockSupport.parkNanos(50_000);
            }
        }
        kept = turns;
    }

    private static long step(long turns) {
        return turns + 1;
    }

    private static void watch() {
        while (!stopped) {
            long begin = System.nanoTime();
            LockSupport.parkNanos(NAP);
            long late = System.nanoTime() - begin - NAP;
            if (late > longest) {
                longest = late;
            }
        }
    }
}
