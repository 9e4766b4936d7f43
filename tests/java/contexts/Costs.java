import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Works, calls, sleeps and allocates in more threads than there are processors. Prints the processor
 * time of each method in nanoseconds, as the JVM reports it, and the number of allocations.
 */
public class Costs {
    private static final int THREADS = 5;
    private static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();
    private static final AtomicLong WORK = new AtomicLong();
    private static final AtomicLong CALLS = new AtomicLong();
    private static final AtomicLong NAPS = new AtomicLong();
    static volatile long sink;
    static volatile Object kept;

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(Costs::run);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("work " + WORK);
        System.out.println("calls " + CALLS);
        System.out.println("nap " + NAPS);
        System.out.println("few " + THREADS * 3);
        System.out.println("many " + THREADS * 70);
    }

    static void run() {
        for (int round = 0; round < 5; round++) {
            long begin = CLOCKS.getCurrentThreadCpuTime();
            work(60_000_000);
            long worked = CLOCKS.getCurrentThreadCpuTime();
            calls(2_000_000);
            long called = CLOCKS.getCurrentThreadCpuTime();
            nap();
            long slept = CLOCKS.getCurrentThreadCpuTime();
            WORK.addAndGet(worked - begin);
            CALLS.addAndGet(called - worked);
            NAPS.addAndGet(slept - called);
        }
        few();
        many();
    }

    static void work(int steps) {
        long sum = sink;
        for (int i = 0; i < steps; i++) {
            sum = sum * 31 + i;
        }
        sink = sum;
    }

    static void calls(int count) {
        for (int i = 0; i < count; i++) {
            call(i);
        }
    }

    static void call(int i) {
        sink += i;
    }

    static void nap() {
        try {
            Thread.sleep(40);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void few() {
        make(3);
    }

    static void many() {
        make(70);
    }

    static void make(int count) {
        for (int i = 0; i < count; i++) {
            kept = i % 2 == 0 ? new int[i] : new StringBuilder(i);
        }
    }
}
