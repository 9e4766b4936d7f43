import java.io.IOException;

/**
 * Allocates objects that stay in one method, objects that leave it, and arrays. The JIT compiler removes the
 * allocations of the first kind. Prints the number of objects of each class, which follows from the argument.
 */
public final class Escape {
    private static final int POINTS_PER_ROUND = 1_000;

    /** Makes the objects of class {@code Kept} escape. */
    static volatile Object last;

    private static volatile boolean hasInputEnded;

    private Escape() {}

    static final class Point {
        final int x;
        final int y;

        Point(int x, int y) {
            this.x = x;
            this.y = y;
        }
    }

    static final class Kept {
        final long number;
        final Kept before;

        Kept(long number, Kept before) {
            this.number = number;
            this.before = before;
        }
    }

    public static void main(String[] args) {
        if (args[0].equals("live")) {
            System.out.println("pid " + ProcessHandle.current().pid());
            runUntilEndOfInput();
            return;
        }
        int rounds = Integer.parseInt(args[0]);
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            sum += addPoints(round);
            sum += keep(round);
            sum += fill(round);
        }
        System.out.println("points " + (long) rounds * POINTS_PER_ROUND);
        System.out.println("kept " + (long) rounds * 200);
        System.out.println("arrays " + (long) rounds * 10);
        System.out.println("sum " + sum);
    }

    private static void runUntilEndOfInput() {
        Thread thread = new Thread(Escape::awaitEndOfInput, "input");
        thread.setDaemon(true);
        thread.start();
        long sum = 0;
        for (int round = 0; !hasInputEnded; round++) {
            sum += addPoints(round) + keep(round) + fill(round);
        }
        System.out.println("sum " + sum);
    }

    private static void awaitEndOfInput() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException e) {
            System.err.println(e);
        }
        hasInputEnded = true;
    }

    static long addPoints(int round) {
        long sum = 0;
        for (int i = 0; i < POINTS_PER_ROUND; i++) {
            Point point = new Point(i, round); // POINT
            sum += point.x * 31L + point.y;
        }
        return sum;
    }

    static long keep(int round) {
        Kept kept = null;
        for (int i = 0; i < 200; i++) {
            kept = new Kept(i, i % 10 == 0 ? null : kept); // KEPT
        }
        last = kept;
        return kept.number + round;
    }

    static int fill(int round) {
        int sum = 0;
        for (int i = 0; i < 10; i++) {
            byte[] bytes = new byte[500]; // ARRAY
            bytes[i] = (byte) round;
            last = bytes;
            sum += bytes[i];
        }
        return sum;
    }
}
