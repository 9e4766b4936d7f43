import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends while activations are in the middle of their methods: main, which ends the JVM from three
 * calls deep; parked daemon threads; a thread that waits for a monitor; a thread in a `try`.
 */
public class Standing {
    static final CountDownLatch ready = new CountDownLatch(4);
    static final Object lock = new Object();

    static void park(int turns) {
        int seen = 0;
        for (int i = 0; i < turns; i++) {
            if (i % 3 == 0) {
                seen++;
            }
        }
        ready.countDown();
        while (seen >= 0) {
            LockSupport.park();
        }
        System.out.println("never");
    }

    static int wanted(int n) {
        ready.countDown();
        synchronized (lock) {
            return n;
        }
    }

    static void guarded() {
        try {
            for (int i = 0; i < 5; i++) {
                risky(i);
            }
        } catch (IllegalStateException e) {
            park(7);
        } finally {
            System.out.println("never");
        }
    }

    static void risky(int i) {
        if (i == 3) {
            throw new IllegalStateException("three");
        }
    }

    static void start(Runnable body) {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        thread.start();
    }

    static void deep(int n) throws Exception {
        if (n > 0) {
            deep(n - 1);
            return;
        }
        synchronized (lock) {
            start(() -> wanted(4));
            ready.await();
            // Wait until the other threads are where they are to be.
            Thread.sleep(500);
            System.out.println("ends");
            System.exit(3);
        }
    }

    public static void main(String[] args) throws Exception {
        start(() -> park(10));
        start(() -> park(11));
        start(Standing::guarded);
        for (int i = 0; i < 1; i++) {
            deep(2);
        }
    }
}
