//! Values of two slots: long and double as parameters, locals, on the stack, across branches and calls,
//! with slots that change their type from one block to the next.

public class LongDouble {
    static long mix(long a, int b, double c, float d, long e) { // entries 1; exits 1; timer 1
        long r = a; // blocks 1
        for (int i = 0; i < b; i++) { // blocks 7
            double t = c * i + d; // blocks 6
            r += (long) t ^ e;
        }
        return r; // blocks 1
    }

    static double series(int n) { // entries 1; exits 1; timer 1
        double s = 0; // blocks 1
        long k = 1;
        do {
            s += 1.0 / k * (k % 2 == 0 ? -1 : 1); // blocks 9 4 5 9
            k += 1;
        } while (k <= n);
        return s; // blocks 1
    }

    static long reuse(int n) { // entries 1; exits 1
        long s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 12 11
            if (i % 3 == 0) { // blocks 11
                long x = i * 7L; // blocks 4
                s += x;
            } else if (i % 3 == 1) { // blocks 7
                double x = i / 2.0; // blocks 4
                s += (long) x;
            } else {
                int x = i; // blocks 3
                int y = x + 1;
                s += x * y;
            }
        }
        return s; // blocks 1
    }

    static long onStack(long a, double b, boolean c) { // entries 2; exits 2; timer 2
        return a + (c ? (long) b : a * 2) - Math.max(a, c ? 3L : 4L); // blocks 2 1 1 2 1 1 2
    }

    static int compare(double a, double b) { // entries 4; exits 4; timer 4
        if (a < b) { // blocks 4
            return -1; // blocks 1
        }
        if (a > b) { // blocks 3
            return 1; // blocks 1
        }
        return a == b ? 0 : 9; // blocks 2 1 1 2
    }

    public static void main(String[] args) { // entries 1; exits 1
        long a = mix(5L << 33, 6, 1.5, 2.25f, -3L); // blocks 1
        double b = series(9);
        long c = reuse(11);
        long d = onStack(10, 4.9, true) * 100 + onStack(20, 7.1, false);
        int e = compare(1, 2) + compare(2, 1) * 10 + compare(3, 3) * 100 + compare(Double.NaN, 0) * 1000;
        System.out.println(a + " " + b + " " + c + " " + d + " " + e);
    }
}
