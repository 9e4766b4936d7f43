import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;

/**
 * `Storm MILLIS`: seven threads that each repeat one kind of work until the time is up. Every
 * round of a work must have the same result. The first result and all differing ones are printed.
 */
public class Storm {
    interface Work {
        long round() throws Exception;
    }

    static long deadline;

    static long sieve() {
        boolean[] composite = new boolean[20_000];
        long sum = 0;
        for (int i = 2; i < composite.length; i++) {
            if (!composite[i]) {
                sum += i;
                for (long j = (long) i * i; j < composite.length; j += i) {
                    composite[(int) j] = true;
                }
            }
        }
        return sum;
    }

    static int ackermann(int m, int n) {
        if (m == 0) {
            return n + 1;
        }
        return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
    }

    static long recursion() {
        return ackermann(2, 30) + fib(15);
    }

    static long fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int risky(int n) {
        if (n % 7 == 3) {
            throw new IllegalStateException("n" + n);
        }
        if (n % 11 == 5) {
            return new int[n % 3][n % 3].length / (n % 3 - n % 3);
        }
        return n;
    }

    static long exceptions() {
        long sum = 0;
        for (int i = 0; i < 300; i++) {
            try {
                try {
                    sum += risky(i);
                } finally {
                    sum += 3;
                }
            } catch (IllegalStateException e) {
                sum += e.getMessage().length();
            } catch (ArithmeticException | ArrayIndexOutOfBoundsException e) {
                sum -= 1;
            }
        }
        return sum;
    }

    static long strings() {
        StringBuilder text = new StringBuilder();
        Map<String, Integer> seen = new TreeMap<>();
        for (int i = 0; i < 400; i++) {
            String word = switch (i % 5) {
                case 0 -> "zero" + i % 3;
                case 1 -> "one";
                case 2 -> Integer.toHexString(i * 31);
                case 3 -> i > 200 ? "late" : "early";
                default -> "x".repeat(i % 4);
            };
            seen.merge(word, 1, Integer::sum);
            text.append(word).append(i).append(',');
        }
        return text.toString().hashCode() * 31L + seen.hashCode();
    }

    /** A bank of accounts whose sum cannot change. */
    static class Bank {
        final long[] accounts = new long[8];

        synchronized void move(int from, int to, long amount) {
            accounts[from] -= amount;
            accounts[to] += amount;
        }

        long sum() {
            long sum = 0;
            synchronized (this) {
                for (long account : accounts) {
                    sum += account;
                }
            }
            return sum;
        }
    }

    static final Bank BANK = new Bank();

    static long locks() {
        long sum = 0;
        for (int i = 0; i < 500; i++) {
            BANK.move(i % 8, (i * 3 + 1) % 8, i);
            if (i % 50 == 0) {
                sum += BANK.sum() + 1;
            }
        }
        return sum;
    }

    static long lambdas() {
        IntBinaryOperator add = (a, b) -> a + b;
        long sum = 0;
        for (int i = 0; i < 300; i++) {
            int by = i;
            IntUnaryOperator twice = x -> add.applyAsInt(x, x) + by;
            sum += compose(twice, x -> x ^ by).applyAsInt(i);
        }
        List<Integer> list = new ArrayList<>(Arrays.asList(5, 3, 9, 1, 7));
        list.sort((a, b) -> b - a);
        return sum * 31 + list.stream().map(x -> x * 2).filter(x -> x > 4).mapToInt(x -> x).sum();
    }

    static IntUnaryOperator compose(IntUnaryOperator f, IntUnaryOperator g) {
        return x -> g.applyAsInt(f.applyAsInt(x));
    }

    static double numbers() {
        double x = 0.5;
        float y = 1.5f;
        long bits = 1;
        for (int i = 1; i < 2_000; i++) {
            x = x * 1.000001 + 1.0 / i;
            y = (float) (y + x) / 2;
            bits = bits * 6364136223846793005L + Double.doubleToLongBits(x) + (i > 1000 ? Float.floatToIntBits(y) : i);
        }
        return bits * 1e-6 + x + y;
    }

    static void repeat(String name, Work work, List<String> lines) {
        try {
            long first = work.round();
            long rounds = 1;
            while (System.nanoTime() < deadline) {
                long again = work.round();
                if (rounds++ % 8 == 0) {
                    // The plan thread needs processor time too.
                    Thread.sleep(1);
                }
                if (again != first) {
                    lines.add(name + " round " + rounds + ": " + again + " instead of " + first);
                    return;
                }
            }
            lines.add(name + " " + first);
        } catch (Throwable e) {
            lines.add(name + " failed: " + e + " at " + Arrays.toString(e.getStackTrace()));
        }
    }

    public static void main(String[] args) throws Exception {
        deadline = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        Map<String, Work> works = new TreeMap<>();
        works.put("sieve", Storm::sieve);
        works.put("recursion", Storm::recursion);
        works.put("exceptions", Storm::exceptions);
        works.put("strings", Storm::strings);
        works.put("locks", Storm::locks);
        works.put("lambdas", Storm::lambdas);
        works.put("numbers", () -> Double.doubleToLongBits(numbers()));
        List<Thread> threads = new ArrayList<>();
        List<String> lines = java.util.Collections.synchronizedList(new ArrayList<>());
        works.forEach((name, work) -> {
            Thread thread = new Thread(() -> repeat(name, work, lines));
            threads.add(thread);
            thread.start();
        });
        for (Thread thread : threads) {
            thread.join();
        }
        lines.sort(String::compareTo);
        lines.forEach(System.out::println);
        System.out.println("bank " + BANK.sum());
    }
}
