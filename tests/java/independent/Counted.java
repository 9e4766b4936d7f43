import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * The methods that classes rewritten by {@code Independent} call. The counts are printed on
 * standard error when the program ends. For one thread only.
 */
public final class Counted {
    private static final long[] OPCODES = new long[256];
    private static final long[] PASSED = new long[1 << 16];
    private static final long[] FELL = new long[1 << 16];

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Counted::show));
    }

    private Counted() {}

    public static void opcode(int opcode) {
        OPCODES[opcode]++;
    }

    public static void passed(int branch) {
        PASSED[branch]++;
    }

    public static void fell(int branch) {
        FELL[branch]++;
    }

    private static void show() {
        long all = 0;
        try (BufferedReader names = new BufferedReader(
                new InputStreamReader(Counted.class.getResourceAsStream("/names"), StandardCharsets.UTF_8))) {
            for (String line = names.readLine(); line != null; line = names.readLine()) {
                String[] words = line.split(" ");
                long times = OPCODES[Integer.parseInt(words[0])];
                if (times > 0) {
                    System.err.println("opcode " + words[1] + " " + times);
                }
                all += times;
            }
        } catch (IOException e) {
            System.err.println(e);
        }
        long passed = 0;
        long taken = 0;
        for (int i = 0; i < PASSED.length; i++) {
            passed += PASSED[i];
            taken += PASSED[i] - FELL[i];
        }
        System.err.println("instructions " + all);
        System.err.println("branches passed " + passed + ", taken " + taken);
    }
}
