package database;

import java.io.IOException;

/** Waits for the end of the standard input, in a thread of its own. */
final class Input {
    private static volatile boolean hasEnded;

    private Input() {}

    /** Prints {@code pid N} and begins to wait. */
    static void begin() {
        System.out.println("pid " + ProcessHandle.current().pid());
        Thread thread = new Thread(Input::awaitEnd, "input");
        thread.setDaemon(true);
        thread.start();
    }

    private static void awaitEnd() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException e) {
            System.err.println(e);
        }
        hasEnded = true;
    }

    static boolean hasEnded() {
        return hasEnded;
    }
}
