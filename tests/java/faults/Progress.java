/**
 * Runs rounds of work until it is killed, and prints the number of completed rounds after each.
 * Each round calls `work` a thousand times and `note` once, with the number of the round.
 */
public class Progress {
    static long sum;

    static void work(int i) {
        if (i % 2 == 0) {
            sum += i;
        } else {
            sum -= i;
        }
    }

    static long note(long round) {
        return round + sum;
    }

    static void round(long n) {
        for (int i = 0; i < 1000; i++) {
            work(i);
        }
        note(n);
        System.out.println("round " + n);
    }

    public static void main(String[] args) {
        System.out.println("pid " + ProcessHandle.current().pid());
        long end = System.nanoTime() + 60_000_000_000L;
        for (long n = 1; System.nanoTime() < end; n++) {
            round(n);
        }
    }
}
