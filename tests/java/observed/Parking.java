package observed;

import java.lang.management.ManagementFactory;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that park, sleep and wake others a known number of times. Each thread prints how often it
 * has waited, as the JVM counts it: calls of {@code Unsafe.park}, {@code Thread.sleep} and {@code
 * Object.wait}.
 */
class Parking {
    /** The class of the object for which a thread parks, and whose monitor is notified. */
    static final class Bench {}

    static final Bench BENCH = new Bench();
    static final ArrayBlockingQueue<Integer> QUEUE = new ArrayBlockingQueue<>(8);
    static final int ROUNDS = 5;
    static final long SLEEP_MILLIS = 20;

    /** The number of elements that were taken. Only the taker writes it. */
    static volatile int taken = 0;

    static void all() throws Exception {
        taken = 0;
        Thread taker = start("taker", Parking::take);
        run("napper", Parking::nap);
        run("giver", () -> give(taker));
        taker.join();
        Thread sleeper = start("sleeper", Parking::sleepTwice);
        awaitState(sleeper, Thread.State.TIMED_WAITING);
        sleeper.interrupt();
        sleeper.join();
    }

    interface Work {
        void run() throws Exception;
    }

    static Thread start(String name, Work work) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                work.run();
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                            report(name);
                        },
                        name);
        thread.start();
        return thread;
    }

    static void run(String name, Work work) throws Exception {
        start(name, work).join();
    }

    static synchronized void report(String name) {
        long id = Thread.currentThread().getId();
        long waited = ManagementFactory.getThreadMXBean().getThreadInfo(id).getWaitedCount();
        System.out.println(name + " waited " + waited);
    }

    static void awaitState(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            Thread.onSpinWait();
        }
    }

    static void take() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            QUEUE.take();
            taken = round + 1;
        }
    }

    /** Gives only to a thread that waits for a whole sleep. */
    static void give(Thread taker) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            // Until then, the taker may still look as if it waited for the element before.
            while (taken != round) {
                Thread.onSpinWait();
            }
            awaitState(taker, Thread.State.WAITING);
            Thread.sleep(SLEEP_MILLIS);
            QUEUE.put(round);
            synchronized (BENCH) {
                if (round % 2 == 0) {
                    BENCH.notify();
                } else {
                    BENCH.notifyAll();
                }
            }
        }
    }

    static void nap() {
        for (int round = 0; round < ROUNDS; round++) {
            long began = System.nanoTime();
            LockSupport.parkNanos(BENCH, SLEEP_MILLIS * 1_000_000);
            // Parking may end early without a reason.
            if (System.nanoTime() - began < SLEEP_MILLIS * 1_000_000) {
                throw new IllegalStateException("woken early");
            }
        }
    }

    static void sleepTwice() throws Exception {
        try {
            Thread.sleep(60_000);
        } catch (InterruptedException expected) {
            Thread.sleep(SLEEP_MILLIS);
        }
    }
}
