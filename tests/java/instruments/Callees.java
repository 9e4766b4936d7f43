import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/** Objects whose public methods probes call: {@code serve} runs six times, with n from 0 to 5. */
public class Callees {
    public interface Named {
        String name();
    }

    public static class Item implements Named {
        private final int n;

        public Item(int n) {
            this.n = n;
        }

        @Override
        public String name() {
            return "item" + n % 3;
        }

        public byte small() {
            return (byte) -n;
        }

        public short middle() {
            return (short) (1000 + n);
        }

        public char letter() {
            return (char) ('a' + n);
        }

        public int number() {
            return 10 * n;
        }

        public long big() {
            return 1L << 30 + n;
        }

        public float rate() {
            return n + 0.5f;
        }

        public double weight() {
            return n / 4.0;
        }

        public boolean even() {
            return n % 2 == 0;
        }

        public int plus(int more) {
            return n + more;
        }

        public double plus(double more) {
            return n + more + 0.25;
        }

        public String all(byte a, short b, char c, long d, float e, double f, boolean g) {
            return a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + g;
        }

        public String ending(String end) {
            return end == null ? "none" : name() + end;
        }

        public boolean same(Item other) {
            return this == other;
        }

        public Item next() {
            return n % 3 == 0 ? null : new Item(n + 1);
        }

        public int fails() {
            throw new IllegalStateException("n " + n);
        }

        public void nothing() {}

        public int pick(short a) {
            return a;
        }

        public int pick(char a) {
            return a;
        }

        int hidden() {
            return n;
        }

        /** Calls itself {@code depth} times. */
        public int deep(int depth) {
            return depth == 0 ? 0 : 1 + deep(depth - 1);
        }
    }

    static int serve(Item item, Object any, List<String> list, List<String> fixed, int n) {
        return item.number() + any.hashCode() * 0 + list.size() + fixed.size() + n + item.deep(2);
    }

    static int all() {
        int sum = 0;
        for (int n = 0; n < 6; n++) {
            List<String> list = new ArrayList<>(List.of("a"));
            if (n % 2 == 1) {
                list.add("b");
            }
            sum += serve(new Item(n), n % 2 == 0 ? new Item(n) : "text", list, List.of("x", "y", "z"), n);
        }
        return sum;
    }

    /** Without arguments, one run. Otherwise one run for each line {@code run}. */
    public static void main(String[] args) throws IOException {
        if (args.length == 0) {
            System.out.println("sum " + all());
            return;
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            System.out.println("sum " + all());
        }
    }
}
