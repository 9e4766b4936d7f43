package observed;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Uses a known processor time, which the JVM measures by the clock of the thread. */
class Spin {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long NANOS = 400_000_000;

    static volatile long sink;

    /** Prints the processor time around a call of {@link #burn}. */
    static void measured() {
        long before = THREADS.getCurrentThreadCpuTime();
        burn(before + NANOS);
        System.out.println("cpu " + (THREADS.getCurrentThreadCpuTime() - before));
    }

    static void burn(long until) {
        while (THREADS.getCurrentThreadCpuTime() < until) {
            for (int i = 0; i < 20; i++) {
                step();
            }
        }
    }

    static void step() {
        long sum = sink;
        for (int i = 0; i < 20_000; i++) {
            sum += sum << 1 ^ i;
        }
        sink = sum;
    }
}
