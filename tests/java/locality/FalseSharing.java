import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * Two threads add to elements of one array. Each thread has four elements, so that the JIT compiler cannot keep the
 * value of an element in a register. In the slow variant, the elements of the threads alternate, so both threads write
 * to the same one or two cache lines. In the fast variant, the elements of the threads are at least 128 bytes apart.
 */
public final class FalseSharing {
    private static final int STEPS = 1_000_000;
    /** The number of elements of one thread. */
    private static final int SLOTS = 4;
    /** Sixteen elements, or 128 bytes, are between the last element of a thread and the first of the next. */
    private static final int DISTANCE = SLOTS + 16;

    private final boolean isSlow;
    // The array begins and ends with elements that no thread uses, because a neighbouring object can share a line.
    private final long[] counters = new long[4 * DISTANCE];
    private final Rounds rounds;
    private final CyclicBarrier barrier = new CyclicBarrier(2, this::endRound);
    private volatile boolean isDone;
    private long checksum;

    private FalseSharing(boolean isSlow, Rounds rounds) {
        this.isSlow = isSlow;
        this.rounds = rounds;
    }

    public static void main(String[] args) throws InterruptedException {
        FalseSharing program = new FalseSharing(Rounds.isSlow(args), Rounds.begin(args));
        program.isDone = !program.rounds.next();
        Thread second = new Thread(() -> program.run(1), "second");
        second.start();
        program.run(0);
        second.join();
        program.rounds.end(program.checksum);
    }

    private void run(int thread) {
        while (!isDone) {
            if (isSlow) {
                addToNeighbours(counters, thread);
            } else {
                addToDistant(counters, thread);
            }
            try {
                barrier.await();
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Both threads wait until this method returns. */
    private void endRound() {
        long sum = 0;
        for (int i = 0; i < counters.length; i++) {
            sum += counters[i];
        }
        checksum = checksum * 31 + sum;
        isDone = !rounds.next();
    }

    static void addToNeighbours(long[] counters, int thread) {
        int first = DISTANCE + thread;
        for (int step = 0; step < STEPS; step++) {
            counters[first + (step & SLOTS - 1) * 2] += step; // FAULT sharing
        }
    }

    static void addToDistant(long[] counters, int thread) {
        int first = DISTANCE + thread * DISTANCE;
        for (int step = 0; step < STEPS; step++) {
            counters[first + (step & SLOTS - 1)] += step; // MENDED sharing
        }
    }
}
