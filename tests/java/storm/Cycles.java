import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;

/**
 * Calls `work` in a thread continuously. For each line `memory` on standard input, it collects
 * garbage and prints the bytes in use in Metaspace. `stop` (or the end of the input) ends the
 * program.
 */
public class Cycles {
    static volatile boolean stopped;
    static volatile long kept;

    static long work(long seed) {
        long x = seed;
        for (int i = 0; i < 1000; i++) {
            x = x * 31 + (i & 7);
        }
        return x;
    }

    /** An activation that lasts as long as the program. */
    static void loop() {
        long n = 0;
        while (!stopped) {
            n = work(n);
            kept = n;
        }
    }

    static long metaspace() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(20);
        }
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals("Metaspace")) {
                return pool.getUsage().getUsed();
            }
        }
        return -1;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        Thread worker = new Thread(() -> loop());
        worker.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            System.out.println("metaspace " + metaspace());
        }
        stopped = true;
        worker.join();
    }
}
