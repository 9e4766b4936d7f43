import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls methods of receivers of six classes, drawn at random, until standard input has `stop` or ends. Prints a
 * line for each round:
 *
 * <pre>
 *   round 3 sum -8127391823 ms 41
 * </pre>
 *
 * The sums depend on the round alone. They contain the results, the messages of exceptions, and the classes,
 * methods and lines of all their frames. Arguments: the rounds (0 is without end), and the steps of a round. With a third argument,
 * the program runs round 0, prints `ready`, waits for a line, runs its rounds, prints `done`, and waits for the end.
 */
public class Receivers {
    interface Shape {
        long area(long a, int b, double c, String s);

        default long twice(int n) {
            return 2 * size(n);
        }

        int size(int n);
    }

    abstract static class Base implements Shape {
        protected long last;

        abstract void touch(Object mark);

        public int size(int n) {
            return n + 1;
        }

        private long own(long n) {
            return n * 7 + last;
        }
    }

    static final class Square extends Base {
        public long area(long a, int b, double c, String s) {
            last = a;
            return a * b + (long) c;
        }

        void touch(Object mark) {
            last ^= mark == null ? 1 : mark.hashCode();
        }
    }

    static class Circle extends Base {
        public long area(long a, int b, double c, String s) {
            return a + 3 * b - (long) c + (s == null ? -1 : s.length());
        }

        void touch(Object mark) {
            last += 2;
        }

        public int size(int n) {
            return n * 3;
        }
    }

    /** Its objects pass the test for `Circle`. */
    static class Ring extends Circle {
        public long area(long a, int b, double c, String s) {
            return super.area(a, b, c, s) ^ 5;
        }

        void touch(Object mark) {
            last += 3;
        }
    }

    static final class Thrower extends Base {
        public long area(long a, int b, double c, String s) {
            if ((a & 3) == 0) {
                throw new IllegalStateException("at " + b);
            }
            return b / (int) (a & 1);
        }

        void touch(Object mark) {
            throw new UnsupportedOperationException();
        }
    }

    record Point(int x) implements Shape {
        public long area(long a, int b, double c, String s) {
            return x + a;
        }

        public int size(int n) {
            return x;
        }
    }

    enum Unit implements Shape {
        ONE {
            public long area(long a, int b, double c, String s) {
                return 1;
            }

            public int size(int n) {
                return 10;
            }
        }
    }

    /** Loaded at the start, and never initialised. */
    static final class Late implements Shape {
        static {
            System.out.println("initialised");
        }

        public long area(long a, int b, double c, String s) {
            return 0;
        }

        public int size(int n) {
            return 0;
        }
    }

    /** Never loaded. */
    static final class Unloaded implements Shape {
        public long area(long a, int b, double c, String s) {
            return 0;
        }

        public int size(int n) {
            return 0;
        }
    }

    /** A linear congruential generator. */
    static final class Random {
        long state;

        Random(long seed) {
            state = seed * 0x9E3779B97F4A7C15L + 1;
        }

        int below(int n) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            return (int) ((state >>> 33) % n);
        }
    }

    static Shape draw(Random random) {
        return switch (random.below(12)) {
            case 0, 1, 2, 3 -> new Square();
            case 4, 5 -> new Circle();
            case 6 -> new Ring();
            case 7 -> random.below(8) == 0 ? new Thrower() : new Square();
            case 8, 9 -> new Point(random.below(100));
            case 10 -> Unit.ONE;
            default -> random.below(16) == 0 ? null : new Circle();
        };
    }

    static long hash(Throwable thrown) {
        long sum = thrown.getClass().getName().hashCode();
        sum = sum * 31 + String.valueOf(thrown.getMessage()).hashCode();
        for (StackTraceElement frame : thrown.getStackTrace()) {
            sum = sum * 31 + frame.getClassName().hashCode();
            sum = sum * 31 + frame.getMethodName().hashCode();
            sum = sum * 31 + frame.getLineNumber();
        }
        return sum;
    }

    /** The calls have arguments of all types, a value below the receiver, handlers and a monitor. */
    static long step(Shape shape, Random random, Object lock) {
        long sum = 0;
        int b = random.below(50);
        long a = random.below(1000);
        String text = b % 3 == 0 ? null : "x".repeat(b % 7);
        try {
            sum += shape.area(a, b, a * 0.5, text);
            sum = sum * 31 + (b + new StringBuilder().append(shape.size(b)).length());
        } catch (IllegalStateException e) {
            sum ^= hash(e);
        }
        synchronized (lock) {
            sum += shape.twice(b);
        }
        if (shape instanceof Base base) {
            base.touch(b % 2 == 0 ? null : text);
            sum += base.own(a) + base.size(3);
        }
        return sum;
    }

    /** One call runs for the whole round. */
    static long round(int number, int steps) {
        Random random = new Random(number);
        Object lock = new Object();
        long sum = number;
        for (int n = 0; n < steps; n++) {
            Shape shape = draw(random);
            try {
                sum = sum * 31 + step(shape, random, lock);
                sum += shape.size(n & 7);
            } catch (RuntimeException e) {
                sum ^= hash(e);
            }
        }
        return sum;
    }

    static volatile boolean stopped;

    public static void main(String[] args) throws Exception {
        Class.forName("Receivers$Late", false, Receivers.class.getClassLoader());
        int rounds = Integer.parseInt(args[0]);
        int steps = Integer.parseInt(args[1]);
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        if (args.length > 2) {
            print(0, steps);
            System.out.println("ready");
            in.readLine();
        }
        if (rounds == 0) {
            Thread reader = new Thread(() -> waitForEnd(in));
            reader.setDaemon(true);
            reader.start();
        }
        for (int number = 0; rounds == 0 ? !stopped : number < rounds; number++) {
            print(number, steps);
        }
        if (args.length > 2) {
            System.out.println("done");
            waitForEnd(in);
        }
    }

    static void waitForEnd(BufferedReader in) {
        try {
            String line = in.readLine();
            while (line != null && !line.equals("stop")) {
                line = in.readLine();
            }
        } catch (java.io.IOException e) {
            e.printStackTrace();
        }
        stopped = true;
    }

    static void print(int number, int steps) {
        long begin = System.nanoTime();
        long sum = round(number, steps);
        long ms = (System.nanoTime() - begin) / 1_000_000;
        System.out.println("round " + number + " sum " + sum + " ms " + ms);
    }
}
