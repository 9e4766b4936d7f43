//! Sixteen threads run the same methods at once: the counts are exact.

public class Threads { // blocks 1
    private static final int THREADS = 16;
    private static final int ROUNDS = 5000;
    private final long[] results = new long[THREADS];

    static int step(int n) { // entries 80000; exits 80000; timer 80000
        if ((n & 3) == 0) { // blocks 80000
            return n / 2; // blocks 20000
        }
        return n + 3; // blocks 60000
    }

    static long work(int seed, int rounds) { // entries 16; exits 16; timer 16
        long s = seed; // blocks 16
        for (int i = 0; i < rounds; i++) { // blocks 80016
            s = s * 31 + step(i); // blocks 80000
        }
        return s; // blocks 16
    }

    synchronized void store(int place, long result) { // entries 16; exits 16; timer 16
        results[place] = result; // blocks 16
    }

    long run() throws InterruptedException { // entries 1; exits 1
        Thread[] threads = new Thread[THREADS]; // blocks 1
        for (int i = 0; i < THREADS; i++) { // blocks 17
            int place = i; // blocks 16
            threads[i] = new Thread(() -> {
                store(place, work(place, ROUNDS)); // blocks 16
            });
            threads[i].start();
        }
        long s = 0; // blocks 1
        for (int i = 0; i < THREADS; i++) { // blocks 17
            threads[i].join(); // blocks 16
            s = s * 7 + results[i];
        }
        return s; // blocks 1
    }

    public static void main(String[] args) throws InterruptedException { // entries 1; exits 1
        long a = new Threads().run(); // blocks 1
        System.out.println(a);
    }
}
