import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/**
 * A program that attachments are measured on: {@code Pauses CLASSES METHODS THREADS}. Threads call all methods of the classes {@code Many0} …
 * over and over; one more runs a loop that never ends and calls {@code step} each turn; and a pause meter sleeps a little again and again and keeps
 * the longest time by which it came late: what holds all threads up holds it up.
 *
 * <p>Each line on standard input is answered: {@code pause} with the longest delay since the last such line, in microseconds, {@code
 * round} when every method was called once more, {@code stop} ends the program.
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
