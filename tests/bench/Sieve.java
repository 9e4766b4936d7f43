/**
 * Kernels on arrays of bytes and ints that the JIT unrolls and vectorises: the sieve of
 * Eratosthenes, a sum, a scaled addition.
 *
 * <p>Arguments: the bound of the sieve.
 */
public final class Sieve implements Work {
    private final boolean[] composite;
    private final int[] left;
    private final int[] right;

    public Sieve(String[] args) {
        composite = new boolean[Integer.parseInt(args[0])];
        left = new int[1 << 16];
        right = new int[1 << 16];
    }

    @Override
    public long round() {
        long sum = sieve();
        for (int i = 0; i < left.length; i++) {
            left[i] = i;
            right[i] = i ^ 0x5555;
        }
        for (int factor = 1; factor <= 50; factor++) {
            add(factor);
            sum = sum * 31 + total();
        }
        return sum;
    }

    private int sieve() {
        boolean[] composite = this.composite;
        for (int i = 0; i < composite.length; i++) {
            composite[i] = false;
        }
        int primes = 0;
        for (int i = 2; i < composite.length; i++) {
            if (!composite[i]) {
                primes++;
                for (long k = (long) i * i; k < composite.length; k += i) {
                    composite[(int) k] = true;
                }
            }
        }
        return primes;
    }

    private void add(int factor) {
        int[] left = this.left, right = this.right;
        for (int i = 0; i < left.length; i++) {
            left[i] += factor * right[i];
        }
    }

    private int total() {
        int sum = 0;
        for (int value : left) {
            sum += value;
        }
        return sum;
    }
}
