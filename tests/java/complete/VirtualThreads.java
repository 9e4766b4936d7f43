import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;

/** Calls in virtual threads that park, if the JDK has them, else in platform threads. */
class VirtualThreads {
    static final ConcurrentLinkedQueue<String> WORDS = new ConcurrentLinkedQueue<>();

    static void work(int n) throws InterruptedException {
        for (int i = 0; i < n; i++) {
            WORDS.add("w" + i);
            Thread.sleep(1);
        }
    }

    static ThreadFactory factory() throws ReflectiveOperationException {
        if (Runtime.version().feature() < 21) {
            return Thread::new;
        }
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        return (ThreadFactory) type.getMethod("factory").invoke(builder);
    }

    public static void main(String[] arguments) throws Exception {
        ThreadFactory factory = factory();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = factory.newThread(() -> {
                try {
                    work(3);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (WORDS.size() != 12) {
            throw new AssertionError(WORDS.size());
        }
    }
}
