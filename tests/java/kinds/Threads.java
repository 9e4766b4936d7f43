package kinds;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Threads, a pool, and, if the JDK has them, virtual threads. */
public class Threads {
    public static void main(String[] args) throws Exception {
        long[] sums = new long[6];
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < sums.length; i++) {
            int number = i;
            Thread thread = new Thread(() -> sums[number] = work(number));
            thread.start();
            all.add(thread);
        }
        for (int i = 0; i < 40; i++) {
            int number = i;
            all.add(lightweight(() -> note(number)));
        }
        for (Thread thread : all) {
            thread.join();
        }
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            results.add(pool.submit(new Task(i)));
        }
        long sum = sums[1] + sums[5];
        for (Future<Integer> result : results) {
            sum += result.get();
        }
        pool.shutdown();
        System.out.println(sum);
    }

    private static Thread lightweight(Runnable task) throws Exception {
        try {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        } catch (NoSuchMethodException | java.lang.reflect.InvocationTargetException e) {
            Thread thread = new Thread(task);
            thread.start();
            return thread;
        }
    }

    static long work(int number) {
        long sum = 0;
        for (int i = 0; i < 700 * (number + 1); i++) {
            sum += step(i);
        }
        return sum;
    }

    static int step(int n) {
        return n & 3;
    }

    static synchronized void note(int n) {
        step(n);
    }

    /** A task of the pool. */
    static class Task implements Callable<Integer> {
        private final int n;

        Task(int n) {
            this.n = n;
        }

        @Override
        public Integer call() {
            return step(n) + step(n + 1);
        }
    }
}
