/**
 * Calls that take long, and their durations by {@code System.nanoTime()}. It prints {@code NAME
 * inside OUTSIDE} in nanoseconds: measured within the calls, and around them. One call takes
 * longer than the agent needs to change the clock of timers.
 */
public class Naps {
    private static long inside;

    static void nap(int millis) throws InterruptedException {
        long begin = System.nanoTime();
        Thread.sleep(millis);
        inside += System.nanoTime() - begin;
    }

    static void longest() throws InterruptedException {
        long begin = System.nanoTime();
        Thread.sleep(2500);
        inside += System.nanoTime() - begin;
    }

    private static void tell(String name, long outside) {
        System.out.println(name + " " + inside + " " + outside);
        inside = 0;
    }

    public static void main(String[] args) throws Exception {
        long begin = System.nanoTime();
        longest();
        tell("longest", System.nanoTime() - begin);
        long outside = 0;
        for (int i = 0; i < 30; i++) {
            begin = System.nanoTime();
            nap(20);
            outside += System.nanoTime() - begin;
        }
        tell("nap", outside);
    }
}
