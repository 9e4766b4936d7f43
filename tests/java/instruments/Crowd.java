import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * `Crowd platform|virtual THREADS CALLS`: each thread calls `work(3)` CALLS times; virtual threads
 * yield in between.
 */
public class Crowd {
    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        return sum;
    }

    static synchronized int guarded(int n) {
        return n + 1;
    }

    static void run(int calls, CountDownLatch begin, long[] sums, int place) {
        try {
            begin.await();
            for (int i = 0; i < calls; i++) {
                sums[place] += guarded(work(3));
                if (i % 16 == 0) {
                    Thread.yield();
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]);
        int calls = Integer.parseInt(args[2]);
        CountDownLatch begin = new CountDownLatch(1);
        long[] sums = new long[threads];
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int place = i;
            Runnable job = () -> run(calls, begin, sums, place);
            if (args[0].equals("virtual")) {
                Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
                all.add((Thread) start.invoke(null, job));
            } else {
                Thread thread = new Thread(job);
                thread.start();
                all.add(thread);
            }
        }
        begin.countDown();
        long sum = 0;
        for (int i = 0; i < threads; i++) {
            all.get(i).join();
            sum += sums[i];
        }
        System.out.println("sum " + sum);
    }
}
