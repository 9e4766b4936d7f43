package observing;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Makes short calls for a known time, one long call, and short calls again, for each line `run`. */
public class Steps {
    static final long PHASE_MILLIS = 4_000;
    static final long SLOW_MILLIS = 120;
    static final long TICK_NANOS = 1_000;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("pid " + ProcessHandle.current().pid());
        String line = in.readLine();
        while (line != null && !line.equals("stop")) {
            phase();
            slow(7);
            phase();
            System.out.println("done");
            line = in.readLine();
        }
    }

    static void phase() {
        long end = System.nanoTime() + PHASE_MILLIS * 1_000_000;
        while (System.nanoTime() < end) {
            tick();
        }
    }

    static void tick() {
        long end = System.nanoTime() + TICK_NANOS;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    static void slow(int order) throws InterruptedException {
        Thread.sleep(SLOW_MILLIS + order);
    }
}
