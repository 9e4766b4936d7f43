import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls a method of more than 325 bytes, most of which hardly ever run, until standard input has `stop` or ends. Prints
 * a line for each round, with its time in microseconds:
 *
 * <pre>
 *   round 3 sum -8127391823 ms 412
 * </pre>
 *
 * The argument `whole` calls the method, and `hand` one whose rare code is in a method of its own.
 */
public class Outlined {
    static long total;

    /** The rare code is below the first return. */
    static int whole(int value, int by) {
        if ((value & 0xfff) != 0) {
            return value * by + (value >>> 3);
        }
        long sum = total;
        for (int n = 0; n < 3; n++) {
            sum += (long) n * value + by;
            if (sum % 3 == 0) { sum ^= value; } else if (sum % 5 == 0) { sum += by; } else { sum -= 7; }
            if (sum % 7 == 0) { sum ^= value; } else if (sum % 11 == 0) { sum += by; } else { sum -= 9; }
            if (sum % 13 == 0) { sum ^= value; } else if (sum % 17 == 0) { sum += by; } else { sum -= 11; }
            if (sum % 19 == 0) { sum ^= value; } else if (sum % 23 == 0) { sum += by; } else { sum -= 13; }
            if (sum % 29 == 0) { sum ^= value; } else if (sum % 31 == 0) { sum += by; } else { sum -= 15; }
            if (sum % 37 == 0) { sum ^= value; } else if (sum % 41 == 0) { sum += by; } else { sum -= 17; }
            if (sum % 43 == 0) { sum ^= value; } else if (sum % 47 == 0) { sum += by; } else { sum -= 19; }
        }
        total = sum;
        return (int) sum;
    }

    static int hand(int value, int by) {
        if ((value & 0xfff) != 0) {
            return value * by + (value >>> 3);
        }
        return whole(value, by);
    }

    static long round(int[] data, int by, boolean byHand) {
        long sum = 0;
        for (int n = 0; n < 1_000; n++) {
            for (int value : data) {
                sum += byHand ? hand(value, by) : whole(value, by);
            }
        }
        return sum;
    }

    static volatile boolean stopped;

    public static void main(String[] args) throws Exception {
        boolean byHand = args[0].equals("hand");
        System.out.println("pid " + ProcessHandle.current().pid());
        Thread reader = new Thread(() -> {
            try {
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
                String line = in.readLine();
                while (line != null && !line.equals("stop")) {
                    line = in.readLine();
                }
            } catch (java.io.IOException e) {
                e.printStackTrace();
            }
            stopped = true;
        });
        reader.setDaemon(true);
        reader.start();
        int[] data = new int[10_000];
        for (int n = 0; n < data.length; n++) {
            data[n] = n * 37;
        }
        for (int number = 0; !stopped; number++) {
            long begin = System.nanoTime();
            long sum = round(data, 8, byHand);
            long us = (System.nanoTime() - begin) / 1_000;
            System.out.println("round " + number + " sum " + sum + " ms " + us);
        }
    }
}
