package tracing;

/** Calls of known numbers, of which some last 20 ms and the others next to nothing. */
public class Durations {
    static final int ROUNDS = 3;
    static int sum = 0;

    public static void main(String[] args) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            round();
        }
        Thread other = new Thread(Durations::other, "other");
        other.start();
        other.join();
        System.out.println("sum " + sum);
    }

    static void round() {
        for (int i = 0; i < 1_000; i++) {
            fast(i);
        }
        slow();
    }

    static void other() {
        slow();
    }

    static void slow() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        for (int i = 0; i < 100; i++) {
            fast(i);
        }
    }

    /** Two calls, of which the outer one has no other callee. */
    static void fast(int i) {
        sum += twice(i);
    }

    static int twice(int i) {
        return 2 * i;
    }
}
