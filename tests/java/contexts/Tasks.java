import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Passes tasks to other threads in each way that the JDK has. */
public class Tasks {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        runnables(pool);
        callables(pool);
        failures(pool);
        nested(pool);
        scheduled(timer);
        periodic(timer);
        forked();
        futures(pool);
        common();
        threads();
        chain(pool);
        pool.shutdown();
        timer.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
    }

    static void runnables(ExecutorService pool) throws Exception {
        List<Future<?>> done = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            done.add(pool.submit(() -> runnable()));
        }
        for (Future<?> one : done) {
            one.get();
        }
    }

    static void runnable() {
        sink++;
    }

    static void callables(ExecutorService pool) throws Exception {
        for (int i = 0; i < 30; i++) {
            sink += pool.submit(() -> callable()).get();
        }
    }

    static long callable() {
        return 1;
    }

    static void failures(ExecutorService pool) throws Exception {
        for (int i = 0; i < 20; i++) {
            try {
                pool.submit(() -> failing()).get();
            } catch (ExecutionException e) {
                sink++;
            }
        }
    }

    static long failing() {
        throw new IllegalStateException("on purpose");
    }

    static void nested(ExecutorService pool) throws Exception {
        pool.submit(() -> outer(pool)).get();
    }

    static Object outer(ExecutorService pool) throws Exception {
        return pool.submit(() -> inner()).get();
    }

    static Object inner() {
        return sink;
    }

    static void scheduled(ScheduledExecutorService timer) throws Exception {
        for (int i = 0; i < 5; i++) {
            timer.schedule(() -> later(), 1, TimeUnit.MILLISECONDS).get();
        }
    }

    static void later() {
        sink++;
    }

    static void periodic(ScheduledExecutorService timer) throws Exception {
        long begin = sink;
        Future<?> ticks = timer.scheduleAtFixedRate(() -> tick(), 0, 1, TimeUnit.MILLISECONDS);
        while (sink < begin + 10) {
            Thread.sleep(1);
        }
        ticks.cancel(false);
    }

    static void tick() {
        sink++;
    }

    static void forked() {
        sink += new ForkJoinPool(3).invoke(new Sum(0, 64));
    }

    static class Sum extends RecursiveTask<Long> {
        private final int from;
        private final int to;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Long compute() {
            if (to - from == 1) {
                return leaf(from);
            }
            int middle = (from + to) / 2;
            Sum left = new Sum(from, middle);
            left.fork();
            return new Sum(middle, to).compute() + left.join();
        }
    }

    static long leaf(int value) {
        return value;
    }

    static void futures(ExecutorService pool) throws Exception {
        for (int i = 0; i < 10; i++) {
            CompletableFuture.supplyAsync(() -> first(), pool).thenApplyAsync(one -> second(one), pool).get();
        }
    }

    static long first() {
        return 2;
    }

    static long second(long one) {
        return one + 1;
    }

    static void common() throws Exception {
        for (int i = 0; i < 10; i++) {
            CompletableFuture.runAsync(() -> third()).get();
        }
    }

    static void third() {
        sink++;
    }

    static void threads() throws Exception {
        for (int i = 0; i < 6; i++) {
            Thread thread = new Thread(() -> body());
            thread.start();
            thread.join();
        }
    }

    static void body() {
        sink++;
    }

    /** Each task submits the next one. */
    static void chain(ExecutorService pool) throws Exception {
        CompletableFuture<Object> end = new CompletableFuture<>();
        pool.execute(() -> link(pool, 100, end));
        end.get();
    }

    static void link(ExecutorService pool, int left, CompletableFuture<Object> end) {
        if (left == 1) {
            end.complete("done");
        } else {
            pool.execute(() -> link(pool, left - 1, end));
        }
    }
}
