import java.util.ArrayList;
import java.util.List;

/**
 * Exhausts the heap and the stack repeatedly, and continues. Its output does not depend on the
 * amount of memory.
 */
public class Exhausted {
    static List<byte[]> kept;
    static int handled;
    static int ended;

    static void fill(int size) {
        while (true) {
            kept.add(new byte[size]);
        }
    }

    /** Called for the first time when no memory is left. */
    static int helper(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i & 3;
        }
        return sum;
    }

    static int lateHelper(int n) {
        return n > 10 ? n - 1 : helper(n) + 1;
    }

    static String heap(int round) {
        kept = new ArrayList<>(1 << 16);
        int result = -1;
        try {
            fill(1 << 16);
        } catch (OutOfMemoryError e) {
            // The heap is still full, except for a rest that was too small for 64 KiB.
            handled++;
            result = lateHelper(round);
        } finally {
            ended++;
            kept = null;
        }
        return "heap " + round + " " + result + " " + handled + " " + ended;
    }

    /**
     * Fills the rest of the heap to the last bytes, and calls a method that was never called
     * before.
     */
    static String lastBytes() {
        kept = new ArrayList<>(1 << 16);
        Object[] chain = null;
        int caught = 0;
        for (int size : new int[] {1 << 16, 1 << 12, 1 << 8, 16}) {
            try {
                while (true) {
                    if (size >= 1 << 12) {
                        kept.add(new byte[size]);
                    } else {
                        Object[] next = new Object[size / 8];
                        next[0] = chain;
                        chain = next;
                    }
                }
            } catch (OutOfMemoryError e) {
                caught++;
            }
        }
        int first = never(caught);
        int second = neverTwice(caught, 3L, 2.5);
        chain = null;
        kept = null;
        return "last " + caught + " " + first + " " + second;
    }

    static int never(int n) {
        int sum = 0;
        while (n > 0) {
            sum += n--;
        }
        return sum;
    }

    static int neverTwice(int a, long b, double c) {
        if (b > 2) {
            return (int) (a + b * c);
        }
        return 0;
    }

    static int depth;
    static int entered;
    static int left;

    /**
     * At the end of the stack, an instrument's call in a handler may overflow. Then a few frames
     * may end early.
     */
    static int deep(int n) {
        depth = n;
        entered++;
        try {
            return deep(n + 1) + 1;
        } finally {
            left++;
        }
    }

    static long wide(long a, double b, Object c, int n) {
        if (n < 0) {
            return a;
        }
        return wide(a + 1, b * 2, c, n + 1) + n;
    }

    /** Catches the error when no stack is left, and continues the recursion from there. */
    static int stubborn(int n) {
        try {
            return stubborn(n + 1);
        } catch (StackOverflowError e) {
            return n > 100 ? 100 : n;
        }
    }

    static String stack(int round) {
        entered = 0;
        left = 0;
        boolean caught = false;
        try {
            deep(0);
        } catch (StackOverflowError e) {
            caught = e.getMessage() == null;
        }
        boolean other = false;
        try {
            wide(0, 1, "c", 0);
        } catch (StackOverflowError e) {
            other = true;
        }
        return "stack " + round + " " + caught + " " + (depth > 500) + " " + (entered - left < 50) + " " + other + " " + stubborn(0);
    }

    public static void main(String[] args) {
        for (int round = 0; round < 5; round++) {
            System.out.println(stack(round));
            System.out.println(heap(round));
        }
        System.out.println(lastBytes());
        System.out.println(helper(7) + " " + lateHelper(20) + " " + never(4));
        if (args.length > 0 && args[0].equals("heap")) {
            kept = new ArrayList<>();
            fill(1 << 20);
        } else if (args.length > 0) {
            deep(0);
        }
    }
}
