import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.Arrays;

/**
 * Classes with static initialisers. Each line on standard input names a class to use. The use
 * initialises the class, and then its values are printed. {@code stop} ends the program.
 */
public class Initial {
    static BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

    enum Colour {
        RED,
        GREEN;

        static final int COUNT = values().length;
    }

    static final class Finals {
        static final int INT;
        static final long LONG;
        static final boolean YES;
        static final byte BYTE;
        static final short SHORT;
        static final char CHAR;
        static final float FLOAT;
        static final double DOUBLE;
        static final String TEXT;
        static final int[] TABLE;
        static final Class<?> SELF;
        static int plain;

        static {
            int sum = 0;
            int[] table = new int[10];
            for (int i = 0; i < table.length; i++) {
                table[i] = sum += i;
            }
            INT = sum;
            LONG = sum * 1_000_000_000_000L;
            YES = sum > 40;
            BYTE = (byte) -sum;
            SHORT = (short) (sum * 700);
            CHAR = (char) ('a' + table[3]);
            FLOAT = sum / 2f;
            DOUBLE = sum / 8.0;
            TEXT = "sum " + sum;
            TABLE = table;
            SELF = Finals.class;
            plain = INT + 1;
        }

        static String all() {
            return INT + " " + LONG + " " + YES + " " + BYTE + " " + SHORT + " " + CHAR + " " + FLOAT + " " + DOUBLE + " " + TEXT + " "
                    + Arrays.toString(TABLE) + " " + SELF.getName() + " " + plain;
        }
    }

    interface Sized {
        int SIZE = Integer.parseInt("17");
    }

    static final class Failing {
        static final int VALUE = Integer.parseInt("none");
    }

    /** Uses {@link Second}, which uses this class while it is being initialised. */
    static final class First {
        static final int ONE = Second.TWO + Integer.parseInt("1");
    }

    static final class Second {
        static final int TWO = First.ONE + Integer.parseInt("10");
    }

    /** Loops until another line is read. */
    static final class Slow {
        static final int TURNS;
        static final String END;

        static {
            int turns = 0;
            String line;
            try {
                while (true) {
                    System.out.println("initialising " + turns);
                    line = in.readLine();
                    if (!line.equals("turn")) {
                        break;
                    }
                    turns++;
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            TURNS = turns;
            END = line;
        }
    }

    static String use(String name) throws InterruptedException {
        switch (name) {
            case "colour":
                return Colour.COUNT + " " + Colour.GREEN + " " + Colour.valueOf("RED").ordinal();
            case "finals":
                return Finals.all();
            case "sized":
                return "" + Sized.SIZE;
            case "failing":
                try {
                    return "" + Failing.VALUE;
                } catch (ExceptionInInitializerError e) {
                    StackTraceElement[] trace = e.getCause().getStackTrace();
                    return e.getCause() + " by " + Arrays.stream(trace).filter(f -> f.getClassName().startsWith("Initial")).toList();
                }
            case "chain":
                return First.ONE + " " + Second.TWO;
            case "slow":
                // Another thread needs the class during its initialisation.
                int[] seen = new int[1];
                Thread other = new Thread(() -> seen[0] = Slow.TURNS);
                Thread starter = new Thread(
                        () -> {
                            try {
                                Thread.sleep(200);
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                            other.start();
                        });
                starter.start();
                String all = Slow.TURNS + " " + Slow.END;
                starter.join();
                other.join();
                return all + " " + seen[0];
            default:
                return "nothing";
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        System.out.println("pid " + ProcessHandle.current().pid());
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            System.out.println("value " + use(line));
        }
    }
}
