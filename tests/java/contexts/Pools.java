import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Gives tasks to thread pools until there is input. */
public class Pools {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        submit(pool);
        System.out.println("pid " + ProcessHandle.current().pid());
        while (System.in.available() == 0) {
            submit(pool);
        }
        pool.shutdown();
    }

    static void submit(ExecutorService pool) throws Exception {
        pool.submit(() -> job()).get();
        CompletableFuture.runAsync(() -> job()).get();
        Thread.sleep(1);
    }

    static void job() {
        long end = System.nanoTime() + 1_000_000;
        while (System.nanoTime() < end) {
            sink++;
        }
    }
}
