package observing;

/** Calls a method that does almost nothing, in rounds with a known number of calls. */
public class Calls {
    static final int ROUNDS = 120;
    static final int CALLS = 20_000;

    static long sum;

    public static void main(String[] args) {
        for (int n = 0; n < ROUNDS; n++) {
            round(n);
        }
        System.out.println("sum " + sum);
    }

    static void round(int n) {
        for (int i = 0; i < CALLS; i++) {
            leaf(i ^ n);
        }
    }

    static void leaf(int n) {
        sum += n;
    }
}
