package tracing;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Does what is hard to record, one thing for each line of standard input: `alive N` and `ended N` start N
 * threads, `processes N` starts N processes, `stopped` ends a thread inside its call, `halt` ends the JVM
 * inside a call.
 */
public class Hardships {
    /** The stacks of many threads are small. */
    private static final long STACK_BYTES = 64 * 1024;

    static final AtomicInteger calls = new AtomicInteger();
    static volatile boolean isInside;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("pid " + ProcessHandle.current().pid());
        String line = in.readLine();
        while (line != null && !line.equals("stop")) {
            String[] words = line.split(" ");
            int number = words.length > 1 ? Integer.parseInt(words[1]) : 0;
            switch (words[0]) {
                case "alive" -> alive(number);
                case "ended" -> ended(number);
                case "processes" -> processes(number);
                case "stopped" -> stopped();
                case "halt" -> halted();
                default -> throw new IllegalArgumentException(line);
            }
            System.out.println("done " + calls.get());
            line = in.readLine();
        }
    }

    static void call() {
        calls.incrementAndGet();
    }

    /** All threads are alive at the same time, each inside a call. */
    static void alive(int number) throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(number);
        Thread[] threads = new Thread[number];
        for (int n = 0; n < number; n++) {
            threads[n] = new Thread(null, () -> waiting(inside), "alive-" + n, STACK_BYTES);
            threads[n].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void waiting(CountDownLatch inside) {
        call();
        inside.countDown();
        try {
            inside.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** One thread at a time. */
    static void ended(int number) throws InterruptedException {
        for (int n = 0; n < number; n++) {
            Thread thread = new Thread(null, Hardships::call, "ended-" + n, STACK_BYTES);
            thread.start();
            thread.join();
        }
    }

    static void processes(int number) throws Exception {
        for (int n = 0; n < number; n++) {
            call();
            if (new ProcessBuilder("true").start().waitFor() != 0) {
                throw new IllegalStateException();
            }
        }
    }

    /** JDK 17 can stop a thread wherever it is. */
    @SuppressWarnings({"deprecation", "removal"})
    static void stopped() throws InterruptedException {
        isInside = false;
        Thread thread = new Thread(Hardships::endless, "stopped");
        thread.setUncaughtExceptionHandler((one, error) -> { });
        thread.start();
        while (!isInside) {
            Thread.sleep(1);
        }
        thread.stop();
        thread.join();
    }

    static void endless() {
        call();
        isInside = true;
        for (long n = 0; n >= 0; n++) {
            if (n == Long.MAX_VALUE) {
                call();
            }
        }
    }

    static void halted() {
        call();
        System.out.println("halting");
        System.out.flush();
        Runtime.getRuntime().halt(7);
    }
}
