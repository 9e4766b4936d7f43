/** Calls methods that hold monitors while they count, until the JIT compilers have compiled them. */
public class Monitors {
    static long shared;
    static final Object ONE = new Object();
    static final Object OTHER = new Object();

    static long block(int n) {
        long sum = n;
        for (int i = 0; i < 50; i++) {
            synchronized (ONE) {
                shared += sum;
                sum ^= shared;
            }
        }
        return sum;
    }

    static long nested(int n) {
        long sum = n;
        for (int i = 0; i < 50; i++) {
            synchronized (ONE) {
                if ((sum & 1) == 0) {
                    synchronized (OTHER) {
                        sum += Long.bitCount(sum);
                    }
                } else {
                    sum = sum * 31 + i;
                }
            }
        }
        return sum;
    }

    static long caught(int n) {
        long sum = 0;
        for (int i = 0; i < 50; i++) {
            synchronized (ONE) {
                try {
                    sum += 100 / ((n + i) % 25);
                } catch (ArithmeticException e) {
                    sum--;
                } finally {
                    sum ^= i;
                }
            }
        }
        return sum;
    }

    public static void main(String[] args) {
        long sum = 0;
        for (int i = 0; i < 40_000; i++) {
            sum += block(i) + nested(i) + caught(i);
        }
        System.err.println("sum " + sum);
    }
}
