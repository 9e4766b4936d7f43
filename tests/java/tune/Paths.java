import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls methods with merges and with loops on invariant conditions, until standard input has `stop` or ends. Prints a
 * line for each round, with its time in microseconds:
 *
 * <pre>
 *   round 3 sum -8127391823 ms 412
 * </pre>
 *
 * Arguments: the rounds (0 is without end), the percentage of numbers that take the rare way, and `all`, `blend`,
 * `digits` or `inner` for the methods that a round calls.
 */
public class Paths {
    /** On the frequent way the divisor is eight, and behind the merge it is unknown. */
    static long blend(int[] data, int[] steps) {
        long sum = 0;
        for (int n = 0; n < data.length; n++) {
            int value = data[n];
            int step;
            if (value >= 0) {
                step = 8;
            } else {
                step = steps[-value & 7];
                value = -value;
            }
            sum += value / step + value % step;
        }
        return sum;
    }

    /** The condition is the same in all iterations of both loops, and differs from call to call. */
    static long digits(int[] data, boolean octal, int base) {
        long sum = 0;
        for (int n = 0; n < data.length; n++) {
            int by;
            if (octal) {
                by = 8;
            } else {
                by = base;
            }
            int value = data[n] & 0xffff;
            while (value > 0) {
                sum += value % by;
                value /= by;
            }
        }
        return sum;
    }

    /** The condition is in a loop without loops inside, which C2 unswitches. */
    static long inner(int[] data, boolean octal, int base) {
        long sum = 0;
        for (int n = 0; n < data.length; n++) {
            int by;
            if (octal) {
                by = 8;
            } else {
                by = base;
            }
            sum += (data[n] & 0xffff) / by;
        }
        return sum;
    }

    /** Exceptions from all ways, with handlers around some of them. */
    static long guarded(int[] data, int from, boolean strict) {
        long sum = from;
        for (int n = 0; n < 40; n++) {
            int at = (from + n * 7) % 101;
            String text = null;
            if (at % 3 == 0) {
                text = "x" + at;
            } else if (at % 7 != 0) {
                at += 5;
            }
            try {
                sum += data[at % 100] / (at % 11);
                if (strict) {
                    sum += text.length();
                } else {
                    sum ^= text == null ? 3 : text.hashCode();
                }
            } catch (ArithmeticException | NullPointerException e) {
                sum = sum * 31 + line(e);
            }
            sum += switch (at & 3) {
                case 0 -> sum & 7;
                case 1 -> -n;
                default -> at;
            };
        }
        if (from % 13 == 0) {
            throw new IllegalStateException("thirteen");
        }
        return sum;
    }

    /** The loops hold a monitor, and their conditions are made of several variables. */
    static long locked(Object lock, int[] data, int flags, long wide) {
        long sum = 0;
        for (int n = 0; n < 20; n++) {
            if ((flags & 4) != 0) {
                sum += data[n];
            }
            if (wide > 7) {
                sum--;
            }
            synchronized (lock) {
                for (int k = 0; k < 5; k++) {
                    if ((flags & 8) == 0) {
                        sum ^= k;
                    } else {
                        sum += new int[] {k, n}.length;
                    }
                }
            }
            sum += n < 10 ? flags : wide;
        }
        return sum;
    }

    static int line(Throwable thrown) {
        StackTraceElement[] trace = thrown.getStackTrace();
        return trace[0].getLineNumber() + trace[1].getLineNumber();
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

    static long round(int number, int[] data, int[] steps, String wanted) {
        long state = number;
        long sum = 0;
        for (int n = 0; n < 1_000; n++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int draw = (int) (state >>> 40);
            boolean all = wanted.equals("all");
            if (all || wanted.equals("blend")) {
                sum = sum * 31 + blend(data, steps);
            }
            if (all || wanted.equals("digits")) {
                sum = sum * 31 + digits(data, draw % 2 == 0, 2 + draw % 29);
            }
            if (all || wanted.equals("inner")) {
                sum = sum * 31 + inner(data, draw % 2 == 0, 2 + draw % 29);
            }
            if (all) {
                try {
                    sum += locked(data, data, draw, state >> 60);
                    sum += guarded(data, draw & 0xffff, draw % 5 == 0);
                } catch (IllegalStateException e) {
                    sum ^= hash(e);
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
        int[] data = new int[args[2].equals("all") ? 100 : 2_000];
        long state = 7;
        for (int n = 0; n < data.length; n++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int value = (int) (state >>> 44);
            data[n] = (int) ((state >>> 33) % 100) < percent ? -value : value;
        }
        int[] steps = {3, 5, 7, 9, 11, 13, 17, 19};
        for (int number = 0; rounds == 0 ? !stopped : number < rounds; number++) {
            long begin = System.nanoTime();
            long sum = round(number, data, steps, args[2]);
            long us = (System.nanoTime() - begin) / 1_000;
            System.out.println("round " + number + " sum " + sum + " ms " + us);
        }
    }
}
