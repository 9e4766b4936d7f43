import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Loops and calls with known counts, executed once per `run`. The comments state the plans' results.
 */
public class Rounds {
    private static int sum;

    /** trips: 10 times 7 iterations. */
    static void counted() {
        for (int i = 0; i < 7; i++) {
            sum += i;
        }
    }

    /** trips: the outer loop once with 4 iterations; the inner one 4 times, with 0, 1, 2 and 3. */
    static void nested() {
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < i; j++) {
                sum += j;
            }
        }
    }

    /** trips: 2 iterations; the third value ends the loop. */
    static void early(int[] values) {
        for (int value : values) {
            if (value < 0) {
                break;
            }
            sum += value;
        }
    }

    /** trips: 5 times 3 iterations, ended by an exception that is caught here. */
    static void caught(int[] values) {
        for (int round = 0; round < 5; round++) {
            try {
                int i = 0;
                while (true) {
                    sum += values[i++];
                }
            } catch (ArrayIndexOutOfBoundsException e) {
                sum++;
            }
        }
    }

    /** trips: 1 iteration, ended by an exception that leaves the method. */
    static void thrown(int[] values) {
        for (int i = 0; i < 10; i++) {
            sum += 6 / values[i];
        }
    }

    /** trips: 4 nested activations, with 0, 1, 2 and 3 iterations. */
    static void inside(int depth) {
        for (int i = 0; i < depth; i++) {
            if (i == depth - 1) {
                inside(i);
            }
            sum++;
        }
    }

    /** tree: main → left → leaf 3, main → right → leaf 5. */
    static void left() {
        for (int i = 0; i < 3; i++) {
            leaf();
        }
    }

    static void right() {
        for (int i = 0; i < 5; i++) {
            leaf();
        }
    }

    static void leaf() {
        sum++;
    }

    static void run() {
        for (int i = 0; i < 10; i++) {
            counted();
        }
        nested();
        early(new int[] {1, 2, -1, 3});
        caught(new int[] {1, 2, 3});
        try {
            thrown(new int[] {3, 0});
        } catch (ArithmeticException e) {
            sum++;
        }
        inside(3);
        left();
        right();
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        if (args.length > 0) {
            run();
            System.out.println("sum " + sum);
            return;
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            sum = 0;
            if (line.startsWith("hot")) {
                hot(Integer.parseInt(line.substring(4)));
            } else {
                run();
            }
            System.out.println("sum " + sum);
        }
    }

    /** Calls a method with a minimal body {@code calls} times. */
    static void hot(int calls) {
        for (int i = 0; i < calls; i++) {
            leaf();
        }
    }
}
