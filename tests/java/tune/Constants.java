import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls methods whose parameters hardly ever change, until standard input has `stop` or ends. Prints a line for each
 * round, with its time in microseconds:
 *
 * <pre>
 *   round 3 sum -8127391823 ms 412
 * </pre>
 *
 * Arguments: the rounds (0 is without end), and the percentage of calls with another value.
 */
public class Constants {
    /** With eight for `step`, the divisions are shifts, and the loop has one kind. */
    static long blend(int[] data, int step, boolean checked, char mode) {
        long sum = 0;
        for (int n = 0; n < data.length; n++) {
            int value = data[n];
            if (checked && value < 0) {
                throw new IllegalArgumentException("at " + n);
            }
            switch (mode) {
                case 'a' -> sum += value / step + value % step;
                case 'b' -> sum -= value / step;
                case 'c' -> sum ^= value * step;
                default -> sum++;
            }
        }
        return sum;
    }

    static int recursive(int depth, int step) {
        return depth <= 0 ? step : recursive(depth - step, step) + 1;
    }

    static synchronized int locked(int step, long wide, int other) {
        step(step);
        return (int) (wide / step) + other;
    }

    static void step(int step) {
        if (step == 7) {
            throw new IllegalStateException("seven");
        }
    }

    /** The method assigns its parameter. */
    static int assigned(int step) {
        step += 1;
        return step;
    }

    static long hash(Throwable thrown) {
        long sum = String.valueOf(thrown).hashCode();
        for (StackTraceElement frame : thrown.getStackTrace()) {
            sum = sum * 31 + frame.getMethodName().hashCode();
            sum = sum * 31 + frame.getLineNumber();
        }
        return sum;
    }

    static volatile boolean stopped;

    static long round(int number, int percent, int[] data) {
        long state = number;
        long sum = 0;
        for (int n = 0; n < 1_000; n++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int draw = (int) ((state >>> 33) % 100);
            int step = draw < percent ? 1 + draw % 9 : 8;
            char mode = draw < percent && draw % 2 == 0 ? (char) ('a' + draw % 5) : 'a';
            try {
                sum = sum * 31 + blend(data, step, draw % 3 != 0 || draw >= percent, mode);
                sum += recursive(40, step) + assigned(step);
                sum += locked(step, state, n);
                if (draw < percent) {
                    data[draw] = -data[draw];
                }
            } catch (IllegalArgumentException | IllegalStateException e) {
                sum ^= hash(e);
                data[draw] = Math.abs(data[draw]);
                for (int k = 0; k < 100; k++) {
                    data[k] = Math.abs(data[k]);
                }
            }
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        int percent = Integer.parseInt(args[1]);
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
        if (rounds == 0) {
            reader.start();
        }
        for (int number = 0; rounds == 0 ? !stopped : number < rounds; number++) {
            int[] data = new int[2_000];
            for (int n = 0; n < data.length; n++) {
                data[n] = n * 37 % 1_001;
            }
            long begin = System.nanoTime();
            long sum = round(number, percent, data);
            long us = (System.nanoTime() - begin) / 1_000;
            System.out.println("round " + number + " sum " + sum + " ms " + us);
        }
    }
}
