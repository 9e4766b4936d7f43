import java.io.IOException;
import java.util.Timer;
import java.util.TimerTask;

/** Tells the test that the program works, and ends it when the test wants it. */
class End {
    private End() {}

    /** Prints the process id. From now on the program ends when a line arrives, or after 300 seconds. */
    static void ready() {
        long deadline = System.nanoTime() + 300_000_000_000L;
        Timer timer = new Timer("end", true);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                try {
                    if (System.in.available() > 0 || System.nanoTime() > deadline) {
                        Runtime.getRuntime().halt(0);
                    }
                } catch (IOException e) {
                    System.err.println(e);
                }
            }
        }, 100, 100);
        System.out.println("pid " + ProcessHandle.current().pid());
    }
}
