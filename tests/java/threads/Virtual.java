import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * `Virtual N`: N virtual threads that yield and sleep inside a counted method. Every other one is
 * pinned to its carrier there. The program must compile on JDKs without virtual threads, so it
 * uses reflection.
 */
public class Virtual {
    static final LongAdder SUM = new LongAdder();

    static void pause(int i) throws InterruptedException {
        if (i % 3 == 0) {
            Thread.yield();
        } else if (i % 7 == 1) {
            Thread.sleep(1);
        }
    }

    static long counted(int seed, int turns) throws InterruptedException {
        long sum = seed;
        for (int i = 0; i < turns; i++) {
            if (((seed + i) & 1) == 0) {
                sum += i;
            } else {
                sum ^= seed;
            }
            pause(i);
        }
        return sum;
    }

    static void one(int n, Method pin, Method unpin) {
        try {
            boolean pinned = n % 2 == 0;
            if (pinned) {
                pin.invoke(null);
            }
            try {
                SUM.add(counted(n, n % 5 + 3));
            } finally {
                if (pinned) {
                    unpin.invoke(null);
                }
            }
        } catch (ReflectiveOperationException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        Class<?> continuation = Class.forName("jdk.internal.vm.Continuation");
        Method pin = continuation.getMethod("pin");
        Method unpin = continuation.getMethod("unpin");
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int n = i;
            all.add((Thread) start.invoke(null, (Runnable) () -> one(n, pin, unpin)));
        }
        for (Thread t : all) {
            t.join();
        }
        long turns = 0;
        long even = 0;
        for (int n = 0; n < threads; n++) {
            for (int i = 0; i < n % 5 + 3; i++) {
                turns++;
                even += (n + i) % 2 == 0 ? 1 : 0;
            }
        }
        System.out.println("calls " + threads + " turns " + turns + " even " + even + " sum " + SUM.sum());
    }
}
