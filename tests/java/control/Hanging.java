/**
 * One thread runs a loop without a safepoint for some seconds, while another thread requests a
 * garbage collection. Until the first thread has finished, the whole JVM waits.
 */
public class Hanging {
    static long rounds(int n) {
        long sum = n;
        for (int k = 0; k < n; k++) {
            // Each division needs the result of the previous one, so `n` iterations take seconds.
            sum += (sum / (k | 1)) % (sum | 7) + k;
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int seconds = Integer.parseInt(args[0]);
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            sum += rounds(1_000);
        }
        long begun = System.nanoTime();
        sum += rounds(10_000_000);
        long each = Math.max(1, (System.nanoTime() - begun) / 10_000_000);
        int n = (int) Math.min(Integer.MAX_VALUE, seconds * 1_000_000_000L / each);
        long[] out = new long[1];
        Thread spinner = new Thread(() -> out[0] = rounds(n), "spinner");
        System.out.println("pid " + ProcessHandle.current().pid());
        spinner.start();
        Thread.sleep(100);
        System.gc();
        System.out.println("collected " + (sum + out[0] != 0));
        spinner.join();
        System.in.read();
    }
}
