/**
 * Calls two methods in all sequences up to a depth, which makes more contexts than a thread may have,
 * twice. Prints the number of these calls.
 */
public class Wide {
    private static final int DEPTH = 20;
    private static long calls;

    public static void main(String[] args) {
        brief();
        for (int round = 0; round < 2; round++) {
            left(DEPTH);
        }
        for (int i = 0; i < 5; i++) {
            brief();
        }
        System.out.println(calls);
    }

    static void left(int depth) {
        calls++;
        if (depth > 0) {
            left(depth - 1);
            right(depth - 1);
        }
    }

    static void right(int depth) {
        calls++;
        if (depth > 0) {
            left(depth - 1);
            right(depth - 1);
        }
    }

    static void brief() {
    }
}
