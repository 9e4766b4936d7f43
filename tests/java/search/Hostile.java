import java.io.IOException;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Programs that are hard to search. The first argument names the program.
 */
public class Hostile {
    static final Object LOCK = new Object();
    static volatile long sink;

    static long now() {
        return System.nanoTime() / 1_000_000;
    }

    // A loop without calls.
    static void spin() {
        long n = 1;
        while (true) { // HOT spin
            n = n * 6364136223846793005L + 1442695040888963407L; // HOT spin
            if (n == 42) { // HOT spin
                sink = n; // HOT spin
            }
        }
    }

    static long price(int items) {
        long sum = 0;
        for (int i = 0; i < items; i++) { // HOT work
            sum = sum * 31 + i % 7; // HOT work
        } // HOT work
        return sum;
    }

    // Computes for some milliseconds, writes to both streams, and ends with this exit code.
    static void work(long millis, int code) {
        System.out.println("begun");
        System.err.println("a message");
        long end = now() + millis;
        while (now() < end) {
            sink += price(1_000_000);
        }
        System.out.println("done");
        System.exit(code);
    }

    // The thousandth thread computes; the others wait for work.
    static void threads() {
        LinkedBlockingQueue<Object> queue = new LinkedBlockingQueue<>();
        for (int i = 0; i < 999; i++) {
            start("pool-" + i, () -> take(queue));
        }
        start("busy", Hostile::spin);
    }

    static void take(LinkedBlockingQueue<Object> queue) {
        try {
            queue.take();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // A thousand threads, of which one holds the lock.
    static void crowd() {
        for (int i = 0; i < 1_000; i++) {
            start("http-" + i, Hostile::serve);
        }
    }

    static void serve() {
        while (true) {
            audit();
        }
    }

    static void audit() {
        synchronized (LOCK) { // HOT crowd
            pause(); // HOT crowd
        } // HOT crowd
    }

    static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // The time is spent below 10,000 activations of one method.
    static void recursion() {
        Thread deep = new Thread(null, () -> descend(10_000), "deep", 512L << 20);
        deep.setDaemon(true);
        deep.start();
    }

    static void descend(int level) {
        if (level > 0) {
            descend(level - 1);
        } else {
            bottom();
        }
    }

    static void bottom() {
        long n = 1;
        while (true) { // HOT recursion
            n = n * 6364136223846793005L + 1442695040888963407L; // HOT recursion
            sink = n; // HOT recursion
        } // HOT recursion
    }

    static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    // Ends the program when a line arrives, or after 300 seconds. Between two looks the thread of
    // the timer runs no code of this class.
    static void endWithInput() {
        long deadline = now() + 300_000;
        new Timer("end").schedule(new TimerTask() {
            @Override
            public void run() {
                try {
                    if (System.in.available() > 0 || now() > deadline) {
                        Runtime.getRuntime().halt(0);
                    }
                } catch (IOException e) {
                    System.err.println(e);
                }
            }
        }, 100, 100);
        System.out.println("pid " + ProcessHandle.current().pid());
    }

    public static void main(String[] args) {
        switch (args[0]) {
            case "work" -> work(Long.parseLong(args[1]), Integer.parseInt(args[2]));
            case "interrupted" -> {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
                System.out.println("begun");
                spin();
            }
            case "threads" -> threads();
            case "crowd" -> crowd();
            case "recursion" -> recursion();
            case "spin" -> start("busy", Hostile::spin);
            default -> throw new IllegalArgumentException(args[0]);
        }
        endWithInput();
    }
}
