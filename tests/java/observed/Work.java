package observed;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * Events of the JVM whose numbers follow from the source. The JVM's own counts are printed beside
 * them.
 */
class Work {
    /** The class of the contended monitor. */
    static final class Lock {}

    /** The class of the monitor with waits. */
    static final class Mail {}

    static final Lock LOCK = new Lock();
    static final Mail MAIL = new Mail();
    /** The number of contentions. */
    static final int ROUNDS = 5;
    /** The holder keeps the monitor for this time after the other thread is blocked. */
    static final long HOLD_MILLIS = 40;

    static volatile int held = 0;
    static volatile int entered = 0;
    static long blockedNanos = 0;
    static volatile boolean isWaiting = false;

    static void all() throws Exception {
        contend();
        waitForMail();
        startThreads();
        collect();
        load();
        unload();
        Hot.run();
        System.out.println("collections " + collections());
    }

    // ---- contention: ROUNDS times, `blocked` waits for `holder` --------------------------------

    static void contend() throws Exception {
        Thread[] threads = new Thread[2];
        threads[1] = new Thread(Work::enterOften, "blocked");
        threads[0] = new Thread(() -> holdOften(threads[1]), "holder");
        threads[0].start();
        threads[1].start();
        threads[0].join();
        threads[1].join();
        System.out.println("blocked at most " + blockedNanos);
    }

    static void holdOften(Thread other) {
        for (int round = 1; round <= ROUNDS; round++) {
            synchronized (LOCK) {
                held = round;
                while (other.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
                pause(HOLD_MILLIS);
            }
            while (entered != round) {
                Thread.onSpinWait();
            }
        }
    }

    static void enterOften() {
        for (int round = 1; round <= ROUNDS; round++) {
            while (held != round) {
                Thread.onSpinWait();
            }
            long began = System.nanoTime();
            enter();
            blockedNanos += System.nanoTime() - began;
            entered = round;
        }
        long id = Thread.currentThread().getId();
        long count = ManagementFactory.getThreadMXBean().getThreadInfo(id).getBlockedCount();
        System.out.println("blocked count " + count);
    }

    static void enter() {
        synchronized (LOCK) {
            held = 0;
        }
    }

    // ---- waits: three time out, one is notified ------------------------------------------------

    static void waitForMail() throws Exception {
        Thread waiter = new Thread(Work::waitOften, "waiter");
        waiter.start();
        while (!isWaiting || waiter.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        synchronized (MAIL) {
            isWaiting = false;
            MAIL.notifyAll();
        }
        waiter.join();
    }

    static void waitOften() {
        try {
            synchronized (MAIL) {
                for (int i = 0; i < 3; i++) {
                    MAIL.wait(30);
                }
                isWaiting = true;
                while (isWaiting) {
                    MAIL.wait();
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // ---- threads, collections, classes ---------------------------------------------------------

    static void startThreads() throws Exception {
        for (int i = 0; i < 4; i++) {
            Thread child = new Thread(Work::child, "child-" + i);
            child.start();
            child.join();
        }
    }

    static void child() {}

    static void collect() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
    }

    /** The number of collections since the JVM began. */
    static long collections() {
        long sum = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum += bean.getCollectionCount();
        }
        return sum;
    }

    static void load() throws Exception {
        Class.forName("observed.Late");
    }

    static void unload() throws Exception {
        URL classes = Work.class.getProtectionDomain().getCodeSource().getLocation();
        URLClassLoader loader = new URLClassLoader(new URL[] {classes}, null);
        Class.forName("observed.Brief", true, loader);
        loader.close();
        loader = null;
        System.gc();
    }

    static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

/** A class that is loaded during the recording. */
class Late {}

/** A class that is loaded by a loader of its own, and unloaded. */
class Brief {}

/** A class with a method that is compiled. */
class Hot {
    static long sum;

    static void run() {
        for (int i = 0; i < 200_000; i++) {
            sum += hot(i);
        }
        // HotSpot installs compiled code and reports it from other threads.
        Work.pause(300);
    }

    static int hot(int n) {
        return n * 31 ^ n >>> 3;
    }
}
