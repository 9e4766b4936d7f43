import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sixteen threads that run the same methods continuously. `quiet` brings all of them to a barrier;
 * `work N` lets each of them do N steps and return to the barrier; `stop` ends the program.
 */
public class Turns {
    private static final int THREADS = 16;
    private static final CyclicBarrier BARRIER = new CyclicBarrier(THREADS + 1);
    private static volatile boolean free = true;
    private static volatile int rounds;
    private static final AtomicInteger SUM = new AtomicInteger();

    static class Cell {
        private long value;

        synchronized void put(long v) {
            value = v;
        }
    }

    static final Cell[] CELLS = new Cell[3];

    static int step(int n) {
        if ((n & 3) == 0) {
            return n / 2;
        }
        return n + 3;
    }

    static void add(int n) {
        SUM.addAndGet(n);
        CELLS[n % 3].put(n);
    }

    static long work(int rounds) {
        long s = 1;
        for (int i = 0; i < rounds; i++) {
            s = s * 31 + step(i);
            add(i);
        }
        return s;
    }

    static void run() {
        try {
            while (free) {
                work(100);
            }
            while (true) {
                BARRIER.await();
                BARRIER.await();
                if (rounds == 0) {
                    return;
                }
                work(rounds);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < CELLS.length; i++) {
            CELLS[i] = new Cell();
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread t = new Thread(Turns::run);
            threads.add(t);
            t.start();
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            if (line.equals("quiet")) {
                free = false;
                BARRIER.await();
                System.out.println("quiet");
            } else {
                rounds = Integer.parseInt(line.substring(5));
                BARRIER.await();
                BARRIER.await();
                System.out.println("worked");
            }
        }
        rounds = 0;
        BARRIER.await();
        for (Thread t : threads) {
            t.join();
        }
    }
}
