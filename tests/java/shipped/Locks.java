import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/** Locks of each kind, and exceptions of the JDK. The comments state the results of the plans. */
public class Locks {
    private final ReentrantLock lock = new ReentrantLock();
    private final Semaphore semaphore = new Semaphore(1);
    private int value;

    /** locks: the second thread waits for the first one to leave this method. */
    synchronized void hold(CountDownLatch held) throws InterruptedException {
        held.countDown();
        Thread.sleep(300);
        value++;
    }

    void count() throws InterruptedException {
        lock.lock(); // locks: 30
        try {
            value++;
        } finally {
            lock.unlock();
        }
        semaphore.acquire(); // locks: 30
        value++;
        semaphore.release();
    }

    int parse(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) { // exceptions: 10 are caught, no `throw` statement
            return -1;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Locks locks = new Locks();
        CountDownLatch held = new CountDownLatch(1);
        Thread holder = new Thread(() -> {
            try {
                locks.hold(held);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "holder");
        holder.start();
        held.await();
        locks.hold(held);
        holder.join();
        int sum = 0;
        for (int i = 0; i < 30; i++) {
            locks.count();
            sum += locks.parse(i % 3 == 0 ? "none" : "" + i);
        }
        System.out.println("value " + locks.value + ", sum " + sum);
    }
}
