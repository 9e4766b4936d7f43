package tracing;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/** Calls whose tree is the same in each run. */
class Work {
    /** The number of calls of {@link #inVirtualThread}, if the JVM has virtual threads. */
    static final int VIRTUAL_CALLS = 30;

    static long all() throws Exception {
        long sum = known() + sorted();
        Thread[] workers = new Thread[3];
        for (int n = 0; n < workers.length; n++) {
            int number = n;
            workers[n] = new Thread(() -> run(number), "worker-" + n);
            workers[n].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        inVirtualThreads();
        return sum;
    }

    /**
     * The known tree: leaf, then twice middle with two leaves each, then a recursion of four calls
     * that end with an exception, which {@link #caught} catches.
     */
    static long known() {
        long sum = leaf(1);
        for (int n = 0; n < 2; n++) {
            sum += middle(n);
        }
        return sum + caught(3);
    }

    static int leaf(int n) {
        return n + 1;
    }

    static int middle(int n) {
        return leaf(n) + leaf(n);
    }

    static int caught(int n) {
        try {
            return thrown(n);
        } catch (IllegalStateException e) {
            return leaf(n);
        }
    }

    static int thrown(int n) {
        if (n == 0) {
            throw new IllegalStateException();
        }
        try {
            return thrown(n - 1);
        } finally {
            leaf(n);
        }
    }

    /** The JDK calls the comparator. */
    static long sorted() {
        Integer[] numbers = new Integer[60];
        for (int n = 0; n < numbers.length; n++) {
            numbers[n] = n * 37 % 60;
        }
        Arrays.sort(numbers, Work::compare);
        return numbers[7];
    }

    static int compare(Integer a, Integer b) {
        return Integer.compare(a, b);
    }

    /**
     * A loop that is so long that it and its callees are compiled, and segments are full: with 12,000 turns, there
     * are more than 200,000 events. The number is no constant of the class, which has no initialiser to be recorded.
     */
    static void run(int number) {
        Counter counter = number % 2 == 0 ? new Counter() : new Doubled();
        IntUnaryOperator next = n -> counter.add(n);
        int sum = 0;
        int turns = Integer.getInteger("tracing.turns", 12_000);
        for (int n = 0; n < turns; n++) {
            sum += next.applyAsInt(n) + middle(n);
            if (n % 1_000 == number) {
                sum += caught(n % 5) + recursion(300) + new Plain(n).value();
            }
            if (n % 4_000 == 0) {
                pause();
            }
        }
        counter.total = sum;
    }

    static int recursion(int n) {
        return n == 0 ? leaf(0) : recursion(n - 1) + 1;
    }

    static synchronized void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void inVirtualThreads() throws Exception {
        java.lang.reflect.Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            return;
        }
        if (Runtime.version().feature() < 21) {
            return;
        }
        Runnable task = Work::inVirtualThread;
        for (int n = 0; n < VIRTUAL_CALLS; n++) {
            ((Thread) start.invoke(null, task)).join();
        }
    }

    static void inVirtualThread() {}
}

class Counter {
    int total;

    int add(int n) {
        return total += n & 3;
    }
}

class Doubled extends Counter {
    @Override
    int add(int n) {
        return super.add(2 * n);
    }
}

/** A constructor that calls a method. */
class Plain {
    private final int value;

    Plain(int n) {
        value = Work.leaf(n);
    }

    int value() {
        return value;
    }
}
