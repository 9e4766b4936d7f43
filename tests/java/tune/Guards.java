import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls a method with receivers and numbers drawn at random, and counts itself how often each comes. Prints
 * {@code ready}, waits for a line, makes the calls, and prints:
 *
 * <pre>
 *   sum 81273
 *   calls 3000000 eight 1800123 other 1199877 square 1499312 circle 600213 rest 900475
 *   done
 * </pre>
 *
 * Then it waits for the end of standard input. {@code circle} has the objects of a subclass too, and {@code rest}
 * has {@code null}. Arguments: the calls, and the seed.
 */
public class Guards {
    interface Shape {
        long area(int scale);
    }

    record Square(long side) implements Shape {
        public long area(int scale) {
            return side * side / scale;
        }
    }

    static class Circle implements Shape {
        public long area(int scale) {
            return 31 + scale;
        }
    }

    /** Its objects pass the test for {@code Circle}. */
    static final class Ring extends Circle {
        public long area(int scale) {
            return super.area(scale) ^ 5;
        }
    }

    record Point(int x) implements Shape {
        public long area(int scale) {
            if (x % 7 == 0) {
                throw new IllegalStateException("at " + x);
            }
            return x;
        }
    }

    static long state;

    static int below(int n) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        return (int) ((state >>> 33) % n);
    }

    /** Eight is the usual value of {@code scale}. */
    static long measure(Shape shape, int scale) {
        long sum = scale % 5;
        try {
            sum += shape.area(scale);
        } catch (RuntimeException e) {
            sum ^= e.getClass().getName().hashCode() + e.getStackTrace()[0].getLineNumber();
        }
        for (int n = 0; n < scale; n++) {
            sum = sum * 31 + n / scale;
        }
        return sum;
    }

    /** The calls are made in one activation. */
    static long run(int calls, long[] seen) {
        Shape[] shapes = {new Square(9), new Square(4), new Circle(), new Ring(), new Point(3)};
        long sum = 0;
        for (int n = 0; n < calls; n++) {
            int which = below(1000);
            Shape shape = which < 500 ? shapes[which % 2] : which < 700 ? shapes[2 + which % 2] : shapes[4];
            if (which == 999) {
                shape = null;
            } else if (which == 998) {
                shape = new Point(7);
            }
            int scale = below(5) < 3 ? 8 : 1 + below(7);
            seen[scale == 8 ? 0 : 1]++;
            seen[which < 500 ? 2 : which < 700 ? 3 : 4]++;
            sum = sum * 31 + measure(shape, scale);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int calls = Integer.parseInt(args[0]);
        state = Long.parseLong(args[1]);
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        run(1000, new long[5]);
        System.out.println("ready");
        in.readLine();
        long[] seen = new long[5];
        System.out.println("sum " + run(calls, seen));
        System.out.println("calls " + calls + " eight " + seen[0] + " other " + seen[1] + " square " + seen[2]
                + " circle " + seen[3] + " rest " + seen[4]);
        System.out.println("done");
        while (in.readLine() != null) {
            continue;
        }
    }
}
