import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends while virtual threads are parked in the middle of a method. A JDK without virtual threads
 * uses other threads.
 */
public class Parked {
    static final int MANY = 60;
    static final CountDownLatch ready = new CountDownLatch(MANY);

    static void wander(boolean park) {
        int seen = 0;
        for (int i = 0; i < 10; i++) {
            if (i % 3 == 0) {
                seen++;
            }
        }
        if (park) {
            ready.countDown();
            while (seen >= 0) {
                LockSupport.park();
            }
            System.out.println("never");
        }
    }

    static Thread start(Runnable body) throws Exception {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, body);
        } catch (NoSuchMethodException e) {
            Thread thread = new Thread(body);
            thread.setDaemon(true);
            thread.start();
            return thread;
        }
    }

    public static void main(String[] args) throws Exception {
        // The agent learns of these methods by their first counted call.
        start(() -> wander(false)).join();
        Thread.sleep(1000);
        for (int i = 0; i < MANY; i++) {
            start(() -> wander(true));
        }
        ready.await();
        Thread.sleep(300);
        System.out.println("ends");
        System.exit(3);
    }
}
