import java.io.IOException;
import java.util.SplittableRandom;

/**
 * Counts the rounds of a program. The first argument of each program is {@code slow} for the variant with the fault
 * or {@code fast} for the mended variant. The second argument is the number of rounds. With 0 rounds, the program
 * prints {@code pid N} when its data is ready, and runs until its standard input ends.
 *
 * <p>At its end, each program prints {@code rounds N} and {@code checksum X}. For one number of rounds, both variants
 * print the same lines. With {@code -Dtime=true}, the program also prints the time of the rounds to standard error.
 */
final class Rounds {
    private final long limit;
    private final long begin = System.nanoTime();
    private volatile boolean hasInputEnded;
    private long count;

    private Rounds(long limit) {
        this.limit = limit;
    }

    static boolean isSlow(String[] args) {
        return switch (args[0]) {
            case "slow" -> true;
            case "fast" -> false;
            default -> throw new IllegalArgumentException(args[0] + ": neither slow nor fast");
        };
    }

    /** Begins to count, after the program has made its data. */
    static Rounds begin(String[] args) {
        Rounds rounds = new Rounds(Long.parseLong(args[1]));
        if (rounds.limit == 0) {
            System.out.println("pid " + ProcessHandle.current().pid());
            Thread thread = new Thread(rounds::awaitEndOfInput, "input");
            thread.setDaemon(true);
            thread.start();
        }
        return rounds;
    }

    private void awaitEndOfInput() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException e) {
            System.err.println(e);
        }
        hasInputEnded = true;
    }

    /** Begins the next round, unless the last round is done. */
    boolean next() {
        boolean isDone = limit == 0 ? hasInputEnded : count == limit;
        if (!isDone) {
            count++;
        }
        return !isDone;
    }

    /** The number of the current round, from 1. */
    long number() {
        return count;
    }

    void end(long checksum) {
        long nanos = System.nanoTime() - begin;
        System.out.println("rounds " + count);
        System.out.println("checksum " + Long.toHexString(checksum));
        if (Boolean.getBoolean("time")) {
            System.err.println("time " + nanos / 1_000_000 + " ms");
        }
    }

    /** The numbers from 0 to {@code count - 1} in an order that is the same on each run. */
    static int[] shuffled(int count) {
        SplittableRandom random = new SplittableRandom(2007);
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            int other = random.nextInt(i + 1);
            numbers[i] = numbers[other];
            numbers[other] = i;
        }
        return numbers;
    }
}
