import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * Exceptions from many places, each printed with its whole trace: class, method, file and line of every frame, with
 * causes and suppressed ones. Each scene runs several times, so that compiled code is covered as well.
 */
public class Traces {
    static int depth;
    static StackTraceElement[] kept;

    // ---- scenes ---------------------------------------------------------------------------------

    static int division(int n) {
        int a = n * 3;
        int b = a - n * 3;
        return a
                / b;
    }

    static int array(int[] numbers, int at) {
        int sum = 0;
        for (int i = 0; i <= at; i++) {
            sum += 1;
            sum += numbers[i];
        }
        return sum;
    }

    static String cast(Object o) {
        Object other = o;

        return (String) other;
    }

    /** Created on one line, thrown on another. */
    static void madeBefore(int n) {
        RuntimeException made = new IllegalStateException("made");
        if (n > 0) {
            depth++;
        }
        throw made;
    }

    static int through1(int n) {
        int before = n + 1;
        int result = through2(before);
        return result + 1;
    }

    static int through2(int n) {
        int result = 0;
        for (int i = 0; i < 3; i++) {
            result += through3(n, i);
        }
        return result;
    }

    static int through3(int n, int i) {
        if (i == 2) {
            throw new UnsupportedOperationException(
                    "at " + n);
        }
        return i;
    }

    static void rethrown(int n) throws Exception {
        try {
            through1(n);
        } catch (UnsupportedOperationException e) {
            depth++;
            throw e;
        }
    }

    static void caused(int n) {
        try {
            through1(n);
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException("caused",
                    e);
        }
    }

    static class Closing implements AutoCloseable {
        final String name;

        Closing(String name) {
            this.name = name;
        }

        @Override
        public void close() {
            throw new IllegalStateException(
                    "closing " + name);
        }
    }

    static void suppressed(int n) {
        try (Closing one = new Closing("one");
                Closing two = new Closing("two")) {
            through1(n + one.name.length() + two.name.length());
        }
    }

    static int inHandler(int[] numbers) {
        try {
            return numbers[7];
        } catch (ArrayIndexOutOfBoundsException e) {
            String text = "x";
            return Integer.parseInt(text);
        }
    }

    @SuppressWarnings("finally")
    static int inFinally(int[] numbers) {
        try {
            return numbers[7];
        } finally {
            cast(numbers);
        }
    }

    static int lambda(int n) {
        IntUnaryOperator f = x -> {
            int zero = x - n;
            return x
                    % zero;
        };
        return f.applyAsInt(n);
    }

    static int nested(int n) throws Exception {
        Callable<Integer> c = () -> {
            Supplier<Integer> s = () -> division(n);
            return s.get();
        };
        return c.call();
    }

    static class Made {
        final int[] data;

        Made(int n) {
            this(n, 1);
        }

        Made(int n, int factor) {
            int size = n * factor;
            data = new int[size];
        }
    }

    static class Derived extends Made {
        final String text;

        Derived(Object o) {
            super(1);
            text = (String) o;
        }
    }

    static class Initialised {
        static final int VALUE = compute(0);

        static int compute(int n) {
            int one = 1;
            return one
                    / n;
        }
    }

    static class Own extends Exception {
        final int code;

        Own(int code) {
            super("own " + code);
            this.code = code;
            check(code);
        }

        static void check(int code) {
            if (code > 5) {
                throw new IllegalArgumentException("code " + code);
            }
        }
    }

    static void own(int code) throws Own {
        depth++;
        throw new Own(
                code);
    }

    static int recursive(int n) {
        if (n == 0) {
            return division(4);
        }
        return n % 2 == 0
                ? recursive(n - 1) + 1
                : recursive(
                        n - 1) + 2;
    }

    static int mutual(int n) {
        if (n > 3) {
            return other(n);
        }
        return division(n);
    }

    static int other(int n) {
        depth++;
        return mutual(n - 1);
    }

    /** Caught further down the stack, so the frames below the handler are not unwound. */
    static Throwable caughtBelow(int n) {
        depth += n;
        try {
            through1(n);
            return null;
        } catch (RuntimeException e) {
            return e;
        }
    }

    static Throwable notThrown(int n) {
        depth++;
        if (n > 0) {
            return notThrown(n - 1);
        }
        return new Throwable("not thrown");
    }

    static StackTraceElement[] threadTrace() {
        depth++;
        StackTraceElement[] all = Thread.currentThread().getStackTrace();
        return all;
    }

    static void comparator() {
        List<Integer> list = new ArrayList<>(List.of(5, 1, 4));
        list.sort(Comparator.comparing(x -> {
            if (x == 4) {
                throw new IllegalStateException("four");
            }
            return x;
        }));
    }

    static synchronized void monitor(Object lock) {
        synchronized (lock) {
            depth++;
            synchronized (Traces.class) {
                through1(3);
            }
        }
    }

    static void reflected() throws Throwable {
        try {
            Traces.class.getDeclaredMethod("division", int.class).invoke(null, 8);
        } catch (java.lang.reflect.InvocationTargetException e) {
            throw e;
        }
    }

    static void filled() {
        RuntimeException e = new RuntimeException("filled");
        depth++;
        e.fillInStackTrace();
        throw e;
    }

    static void withoutTrace() {
        throw new RuntimeException("without", null, false, false) {};
    }

    /** Covers the helpful messages of null pointer exceptions. */
    static class Node {
        Node next;
        int[] data;
        String text;

        int length() {
            return text.length();
        }

        static int deep(Node n) {
            return n.next.next.data[2];
        }

        static void store(Node n) {
            n.next.data[1] = 5;
        }

        static int local(Node[] nodes) {
            Node first = nodes[0];
            return first.data.length;
        }

        static void lock(Node n) {
            synchronized (n.next) {
                depth++;
            }
        }

        static void thrower(RuntimeException e) {
            depth++;
            throw e;
        }
    }

    static int unboxing(Integer value) {
        int one = 1;
        return one + value;
    }

    static int loopWithCatch(int n) {
        int caught = 0;
        for (int i = 0; i < n; i++) {
            try {
                if (i % 2 == 0) {
                    division(i);
                } else {
                    cast(i);
                }
            } catch (ArithmeticException | ClassCastException e) {
                caught += e.getStackTrace()[0].getLineNumber();
                kept = e.getStackTrace();
            }
        }
        return caught;
    }

    /** An overridden method of an exception class. */
    static class Quiet extends RuntimeException {
        Quiet(String message) {
            super(message);
        }

        @Override
        public String getMessage() {
            return "quiet " + super.getMessage();
        }
    }

    static void quiet() {
        throw new Quiet("q");
    }

    static int overflow(int n) {
        return overflow(n + 1) + 1;
    }

    static void overflown() {
        try {
            overflow(0);
        } catch (StackOverflowError e) {
            StackTraceElement[] trace = e.getStackTrace();
            kept = null;
            System.out.println("overflow in " + trace[10]);
        }
    }

    // ---- output ---------------------------------------------------------------------------------

    interface Scene {
        Object run() throws Throwable;
    }

    static void print(StackTraceElement frame) {
        // The frames of the JDK in between depend on its version and on the mode of reflection.
        if (frame.getModuleName() != null) {
            return;
        }
        // Numbers in names of hidden classes and lambdas vary.
        String name = frame.getClassName().replaceAll("0x[0-9a-f]+", "0x");
        System.out.println("    " + name + "." + frame.getMethodName() + "(" + frame.getFileName() + ":" + frame.getLineNumber() + ")");
    }

    static void print(Throwable t, String head) {
        System.out.println("  " + head + t);
        for (StackTraceElement frame : t.getStackTrace()) {
            print(frame);
        }
        for (Throwable s : t.getSuppressed()) {
            print(s, "suppressed ");
        }
        if (t.getCause() != null) {
            print(t.getCause(), "cause ");
        }
    }

    static void scene(String name, int times, Scene scene) {
        for (int i = 0; i < times; i++) {
            Object result;
            try {
                result = scene.run();
            } catch (Throwable t) {
                result = t;
            }
            if (i == 0 || i == times - 1) {
                System.out.println(name + " " + i);
                if (result instanceof Throwable t) {
                    print(t, "");
                } else if (result instanceof StackTraceElement[] frames) {
                    for (StackTraceElement frame : frames) {
                        print(frame);
                    }
                } else {
                    System.out.println("  " + result);
                }
            }
        }
    }

    static void all(int times) {
        scene("division", times, () -> division(3));
        scene("array", times, () -> array(new int[3], 5));
        scene("cast", times, () -> cast(4));
        scene("made before", times, () -> {
            madeBefore(1);
            return null;
        });
        scene("through three", times, () -> through1(1));
        scene("rethrown", times, () -> {
            rethrown(1);
            return null;
        });
        scene("caused", times, () -> {
            caused(1);
            return null;
        });
        scene("suppressed", times, () -> {
            suppressed(1);
            return null;
        });
        scene("in a handler", times, () -> inHandler(new int[2]));
        scene("in finally", times, () -> inFinally(new int[2]));
        scene("lambda", times, () -> lambda(3));
        scene("nested lambdas", times, () -> nested(3));
        scene("constructor", times, () -> new Made(-3));
        scene("derived", times, () -> new Derived(5));
        scene("initialiser", Math.min(times, 1), () -> Initialised.VALUE);
        scene("own", times, () -> {
            own(3);
            return null;
        });
        scene("own 7", times, () -> {
            own(7);
            return null;
        });
        scene("recursive", times, () -> recursive(7));
        scene("mutual", times, () -> mutual(7));
        scene("caught below", times, () -> caughtBelow(2));
        scene("not thrown", times, () -> notThrown(4));
        scene("thread", times, () -> threadTrace());
        scene("comparator", times, () -> {
            comparator();
            return null;
        });
        scene("monitor", times, () -> {
            monitor(new Object());
            return null;
        });
        scene("reflected", Math.min(times, 2), () -> {
            reflected();
            return null;
        });
        scene("filled", times, () -> {
            filled();
            return null;
        });
        scene("without", times, () -> {
            withoutTrace();
            return null;
        });
        scene("null field", times, () -> new Node().length());
        scene("null deep", times, () -> Node.deep(new Node()));
        scene("null store", times, () -> {
            Node.store(new Node());
            return null;
        });
        scene("null local", times, () -> Node.local(new Node[2]));
        scene("null lock", times, () -> {
            Node.lock(new Node());
            return null;
        });
        scene("null throw", times, () -> {
            Node.thrower(null);
            return null;
        });
        scene("unboxing", times, () -> unboxing(null));
        scene("loop with catch", times, () -> loopWithCatch(6));
        scene("quiet", times, () -> {
            quiet();
            return null;
        });
        overflown();
    }

    /**
     * A loop to which instruments can be attached while it runs; it throws its exceptions after
     * that. With a negative number, it runs until there is input.
     */
    static int midLoop(long millis) throws Exception {
        long end = System.nanoTime() + millis * 1_000_000;
        int turns = 0;
        while (millis < 0 ? System.in.available() == 0 : System.nanoTime() < end) {
            turns++;
            Thread.sleep(1);
        }
        int[] numbers = new int[2];
        turns = turns > 0 ? 1 : 0;
        try {
            through1(turns);
        } catch (UnsupportedOperationException e) {
            print(e, "mid-loop ");
        }
        print(notThrown(1), "mid-loop ");
        return numbers[turns
                + 1];
    }

    public static void main(String[] args) throws Exception {
        if (System.getenv("TRACES_PID") != null) {
            System.out.println("pid " + ProcessHandle.current().pid());
        }
        if (args.length > 1) {
            System.out.println("running");
            long millis = Long.parseLong(args[1]);
            scene("mid-loop", 1, () -> midLoop(millis));
        }
        all(Integer.parseInt(args[0]));
        PrintStream out = System.out;
        out.flush();
    }
}
