import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Adds the areas of shapes of five classes, of which one has six objects of ten, until standard input has `stop`
 * or ends. Prints the time of each round in microseconds:
 *
 * <pre>
 *   round 3 sum -8127391823 ms 412
 * </pre>
 *
 * Arguments: `skewed` or `even`, and the number of shapes. A branch predictor knows few shapes by heart.
 */
public class Megamorphic {
    interface Shape {
        int area(int scale);
    }

    record Square(int side) implements Shape {
        public int area(int scale) {
            return side * side * scale;
        }
    }

    record Rectangle(int width, int height) implements Shape {
        public int area(int scale) {
            return width * height * scale;
        }
    }

    record Triangle(int base, int height) implements Shape {
        public int area(int scale) {
            return base * height * scale / 2;
        }
    }

    record Circle(int radius) implements Shape {
        public int area(int scale) {
            return 3 * radius * radius * scale;
        }
    }

    record Nothing(int n) implements Shape {
        public int area(int scale) {
            return 0;
        }
    }

    /** The calls of a round. */
    private static final int CALLS = 2_000_000;

    /** The percentages of the classes, each with those before. */
    private static final int[] SKEWED = {60, 80, 92, 97, 100};
    private static final int[] EVEN = {20, 40, 60, 80, 100};

    static Shape[] shapes(int[] limits, int count) {
        Shape[] all = new Shape[count];
        long state = 42;
        for (int n = 0; n < all.length; n++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int percent = (int) ((state >>> 33) % 100);
            int size = (int) ((state >>> 40) & 15);
            if (percent < limits[0]) {
                all[n] = new Square(size);
            } else if (percent < limits[1]) {
                all[n] = new Rectangle(size, 3);
            } else if (percent < limits[2]) {
                all[n] = new Triangle(size, 4);
            } else if (percent < limits[3]) {
                all[n] = new Circle(size);
            } else {
                all[n] = new Nothing(size);
            }
        }
        return all;
    }

    static long total(Shape[] shapes, int scale) {
        long sum = 0;
        for (Shape shape : shapes) {
            sum += shape.area(scale);
        }
        return sum;
    }

    static volatile boolean stopped;

    public static void main(String[] args) throws Exception {
        Shape[] shapes = shapes(args[0].equals("even") ? EVEN : SKEWED, Integer.parseInt(args[1]));
        System.out.println("pid " + ProcessHandle.current().pid());
        Thread reader = new Thread(() -> {
            try {
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
                String line = in.readLine();
                while (line != null && !line.equals("stop")) {
                    line = in.readLine();
                }
            } catch (java.io.IOException e) {
                e.printStackTrace();
            }
            stopped = true;
        });
        reader.setDaemon(true);
        reader.start();
        for (int round = 0; !stopped; round++) {
            long begin = System.nanoTime();
            long sum = 0;
            for (int n = 0; n < CALLS / shapes.length; n++) {
                sum += total(shapes, n & 7);
            }
            long us = (System.nanoTime() - begin) / 1_000;
            System.out.println("round " + round + " sum " + sum + " ms " + us);
        }
    }
}
