/**
 * Methods whose edges, loops, exits, lines and blocks have known counts, which follow from the
 * calls in `main`. The fragments have the numbers of `veneer fragments --policy block`.
 */
public class Points {
    /**
     * <pre>
     *   f0 → f1 header → f2 even? → f3 even ─→ f5 step → f1
     *                         └───→ f4 odd ──┘             f1 → f6 end
     * </pre>
     */
    static int edges(int n) {
        int even = 0;
        int odd = 0;
        for (int i = 0; i < n; i++) {
            if ((i & 1) == 0) {
                even++;
            } else {
                odd += 2;
            }
        }
        return even * 1000 + odd;
    }

    /** f0 → f1 outer header → f2 → f3 inner header → f4 inner body → f3; f3 → f5 outer step → f1; f1 → f6. */
    static int nested(int a, int b) {
        int sum = 0;
        for (int i = 0; i < a; i++) {
            for (int j = 0; j < b; j++) {
                sum += i ^ j;
            }
        }
        return sum;
    }

    /** Three returns and a throw. */
    static int exits(int n) {
        if (n < 0) {
            throw new IllegalArgumentException("n");
        }
        if (n == 0) {
            return 1;
        }
        if (n == 1) {
            return 2;
        }
        return 3;
    }

    /** Every second call ends with an exception, of the callee or of its own. */
    static int leaves(int n) {
        int got = exits(n % 2 == 0 ? n : -n);
        return got + 1;
    }

    /** The call in f1 throws in every third iteration; f2 is the handler. */
    static int throwing(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            try {
                sum += exits(i % 3 == 2 ? -1 : i);
            } catch (IllegalArgumentException e) {
                sum += 100;
            }
        }
        return sum;
    }

    /** Sleeps `millis` in each iteration of a loop, which a lap timer can measure. */
    static void nap(int turns, long millis) throws InterruptedException {
        for (int i = 0; i < turns; i++) {
            Thread.sleep(millis);
        }
    }

    /** Calls itself: intervals of the same timer are nested. */
    static int deep(int n) {
        return n == 0 ? 0 : deep(n - 1) + 1;
    }

    /** A loop that ends with an exception of its body. */
    static int torn(int[] values) {
        int sum = 0;
        for (int i = 0; ; i++) {
            sum += values[i];
        }
    }

    public static void main(String[] args) throws Exception {
        long sum = 0;
        sum += edges(10);
        sum += edges(7);
        sum += edges(0);
        for (int i = 0; i < 3; i++) {
            sum += nested(4, 5);
        }
        for (int n : new int[] {0, 0, 1, 2, 3, 4, 1}) {
            sum += exits(n);
        }
        int thrown = 0;
        for (int n = 1; n <= 9; n++) {
            try {
                sum += leaves(n);
            } catch (IllegalArgumentException e) {
                thrown++;
            }
        }
        sum += throwing(12);
        nap(5, 10);
        nap(1, 10);
        sum += deep(9);
        for (int i = 0; i < 4; i++) {
            try {
                sum += torn(new int[6]);
            } catch (ArrayIndexOutOfBoundsException e) {
                thrown++;
            }
        }
        System.out.println("sum " + sum + " thrown " + thrown);
    }
}
