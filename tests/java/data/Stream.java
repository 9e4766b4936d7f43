import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/**
 * Four threads that each call {@code pass} 2,500 times in a run, at the same time and with known
 * values. {@code i} counts from 0 in each thread; {@code n} is different in all calls of a run.
 */
public class Stream {
    static final int THREADS = 4;
    static final int PASSES = 2_500;
    static final String[] NAMES = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"};
    /** Strings of equal length that differ only after a million characters. */
    static final String[] LONG = {
        "x".repeat(1_000_000) + "a", "x".repeat(1_000_000) + "b", "x".repeat(1_000_000) + "c"
    };
    static int runs;

    /**
     * Parameters with these values:
     *
     * <ul>
     * <li>{@code value}: from -100 to 2,399.
     * <li>{@code x}: in each five calls NaN, the two infinities, and two numbers ending in .5.
     * <li>{@code name}: one of ten.
     * <li>{@code own}: different in every call of every run.
     * <li>{@code text}: one of three long strings.
     * <li>{@code heavy}: in every other call one of ten, otherwise unique in the run.
     * </ul>
     */
    static long pass(int i, int n, long value, double x, String name, String own, String text, int heavy) {
        return n + value;
    }

    /** Called once at the end of each run. */
    static int over(int run) {
        return run + 1;
    }

    static double x(int i) {
        return switch (i % 5) {
            case 0 -> Double.NaN;
            case 1 -> Double.POSITIVE_INFINITY;
            case 2 -> Double.NEGATIVE_INFINITY;
            default -> i + 0.5;
        };
    }

    static long thread(int thread) {
        long sum = 0;
        for (int i = 0; i < PASSES; i++) {
            int n = thread * PASSES + i;
            int heavy = i % 2 == 0 ? i % 20 / 2 : 1_000 + n;
            sum += pass(i, n, i - 100, x(i), NAMES[i % 10], "r" + runs + "n" + n, LONG[i % 3], heavy);
        }
        return sum;
    }

    static long run() throws InterruptedException {
        long[] sums = new long[THREADS];
        CountDownLatch ready = new CountDownLatch(THREADS);
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            threads[t] = new Thread(() -> {
                ready.countDown();
                try {
                    ready.await();
                } catch (InterruptedException e) {
                    return;
                }
                sums[thread] = thread(thread);
            });
            threads[t].start();
        }
        long sum = 0;
        for (int t = 0; t < THREADS; t++) {
            threads[t].join();
            sum += sums[t];
        }
        runs = over(runs);
        return sum;
    }

    /** Without arguments, one run. Otherwise one run for each line {@code run}. */
    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            System.out.println("sum " + run());
            return;
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            System.out.println("sum " + run());
        }
    }
}
