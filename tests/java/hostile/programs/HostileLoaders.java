import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * `HostileLoaders MILLISECONDS custom|system`: three threads and the main thread run classes of a
 * {@link RecordingLoader}, while other threads take the locks of class loading in every order. All
 * nested locking happens under one outermost lock, so no deadlock is possible without Veneer. The
 * program prints the result of every thread, and all calls of the loader.
 */
public class HostileLoaders {
    /** The outermost lock. */
    static final Object TURN = new Object();

    static volatile boolean ends;

    /** The results of the methods that run seldom; see `guest.Work`. */
    static int seldomExpected;

    interface Body {
        void run() throws Exception;
    }

    /**
     * Takes the locks nested in each other, in the order of this permutation, and runs the body
     * while holding all of them.
     */
    static void nested(List<Object> locks, int permutation, Body body) throws Exception {
        if (locks.isEmpty()) {
            body.run();
            return;
        }
        List<Object> left = new ArrayList<>(locks);
        Object lock = left.remove(permutation % locks.size());
        synchronized (lock) {
            nested(left, permutation / locks.size(), body);
        }
    }

    /** Runs the guests until the end. Each result must equal the first one. */
    static void rounds(int number, IntUnaryOperator[] guests, List<Object> locks, String[] results) throws Exception {
        long expected = 0;
        long different = 0;
        int seldom = 0;
        for (int round = 0; !ends; round++) {
            long sum = 0;
            for (IntUnaryOperator guest : guests) {
                sum = sum * 31 + guest.applyAsInt(20 + number);
            }
            long[] inside = {0};
            int permutation = round * 3 + number;
            synchronized (TURN) {
                nested(locks, permutation, () -> {
                    for (IntUnaryOperator guest : guests) {
                        inside[0] = inside[0] * 31 + guest.applyAsInt(5);
                    }
                });
            }
            sum = sum * 31 + inside[0];
            if (round == 0) {
                expected = sum;
            } else if (sum != expected) {
                different++;
            }
            if (round % 50 == 5 && seldom < 6) {
                seldom++;
                for (IntUnaryOperator guest : guests) {
                    different += guest.applyAsInt(-10) == seldomExpected ? 0 : 1;
                }
            }
            Thread.sleep(1);
        }
        results[number] = "thread " + number + " computed " + expected + ", different rounds: " + different;
    }

    public static void main(String[] args) throws Exception {
        if (RecordingLoader.VARIANT.startsWith("blocks")) {
            synchronized (RecordingLoader.LOCK) {
                program(args);
            }
        } else {
            program(args);
        }
    }

    static void program(String[] args) throws Exception {
        long milliseconds = Long.parseLong(args[0]);
        ClassLoader parent = HostileLoaders.class.getClassLoader();
        RecordingLoader first = args[1].equals("system")
                ? (RecordingLoader) ClassLoader.getSystemClassLoader()
                : new RecordingLoader(parent);
        List<RecordingLoader> loaders = new ArrayList<>(List.of(first));
        if (RecordingLoader.VARIANT.equals("twins")) {
            loaders.add(new RecordingLoader(parent, "second", first));
        }
        IntUnaryOperator[] guests = new IntUnaryOperator[loaders.size()];
        List<Object> locks = new ArrayList<>();
        for (int i = 0; i < guests.length; i++) {
            Class<?> work = loaders.get(i).loadClass("guest.Work");
            guests[i] = (IntUnaryOperator) work.getDeclaredConstructor().newInstance();
            locks.add(loaders.get(i));
            locks.add(work);
            locks.add(loaders.get(i).lockOf("guest.Never"));
            locks.add(loaders.get(i).lockOf("other.Unseen"));
        }
        // The main thread loads all classes that a round needs.
        for (IntUnaryOperator guest : guests) {
            seldomExpected = guest.applyAsInt(-10);
            System.out.println("first " + guest.applyAsInt(20) + " " + seldomExpected);
        }
        String[] results = new String[4];
        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                try {
                    rounds(number, guests, locks, results);
                } catch (Throwable e) {
                    results[number] = "thread " + number + " failed: " + e;
                }
            }, "app-" + i);
            thread.start();
            threads.add(thread);
        }
        // Negative numbers let the guests use a class that was not loaded until then.
        for (int phase = 1; phase <= 3; phase++) {
            Thread.sleep(milliseconds / 4);
            synchronized (TURN) {
                for (IntUnaryOperator guest : guests) {
                    System.out.println("phase " + phase + " " + guest.applyAsInt(-phase));
                }
            }
        }
        Thread.sleep(milliseconds / 4);
        ends = true;
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 1; i <= 3; i++) {
            System.out.println(results[i]);
        }
        for (String call : RecordingLoader.CALLS) {
            System.out.println(call);
        }
    }
}
