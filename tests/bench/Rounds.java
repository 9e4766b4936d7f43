/**
 * Does a piece of work in rounds: {@code Rounds CLASS ROUNDS [ARGUMENT…]}. The class implements
 * {@link Work}; its constructor gets the arguments.
 *
 * <p>Standard output has the checksum of each round, standard error {@code round N 12.34 ms}. If
 * the checksum of a round differs from the first one, the program ends with exit code 3, because a
 * run with a wrong result must not be measured.
 */
public final class Rounds {
    private Rounds() {}

    public static void main(String[] args) throws Exception {
        String[] rest = java.util.Arrays.copyOfRange(args, 2, args.length);
        Work work = (Work) Class.forName(args[0]).getConstructor(String[].class).newInstance((Object) rest);
        int rounds = Integer.parseInt(args[1]);
        long first = 0;
        for (int round = 1; round <= rounds; round++) {
            long begin = System.nanoTime();
            long sum = once(work);
            long time = System.nanoTime() - begin;
            System.out.println("round " + round + " checksum " + Long.toHexString(sum));
            System.err.println("round " + round + " " + time / 1e6 + " ms");
            if (round == 1) {
                first = sum;
            } else if (sum != first) {
                System.err.println("round " + round + " computed something else than the first one");
                System.exit(3);
            }
        }
    }

    /** Runs one round. It is a separate method, so that a plan can count rounds. */
    private static long once(Work work) throws Exception {
        return work.round();
    }
}
