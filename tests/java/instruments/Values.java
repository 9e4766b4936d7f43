import java.util.ArrayList;
import java.util.List;

/** Calls whose arguments and variables a log must show in order. */
public class Values {
    final int mark;

    Values(int mark) {
        this.mark = mark;
    }

    static String all(int i, long l, float f, double d, boolean b, char c, byte y, short s, String t, Object o, int[] a) {
        return i + " " + l + " " + f + " " + d + " " + b + " " + c + " " + y + " " + s + " " + t + " " + (o == null) + " " + a.length;
    }

    /** f0 → f1 header → f2 body → f1; f1 → f3. */
    static long turns(int n) {
        long square = 0;
        for (int i = 0; i < n; i++) {
            square = (long) i * i;
        }
        return square;
    }

    int own(int by) {
        return mark * by;
    }

    /** `later` has no value yet at the method's entry. */
    static int notYet(int n) {
        int later = n + 1;
        if (later > 3) {
            later *= 2;
        }
        return later;
    }

    public static void main(String[] args) {
        List<Object> out = new ArrayList<>();
        out.add(all(1, 2L, 0.5f, 0.25, true, 'x', (byte) -1, (short) -300, "one", null, new int[1]));
        out.add(all(Integer.MIN_VALUE, Long.MIN_VALUE, -1.5f, Double.MAX_VALUE, false, '\u00e4', Byte.MAX_VALUE, Short.MAX_VALUE,
                "", new Values(3), new int[2]));
        out.add(all(-7, -8L, Float.POSITIVE_INFINITY, -0.0, true, '\uffff', (byte) 0, (short) 0,
                null, "text", new int[3]));
        out.add(all(0, 0L, 0f, 0.0, false, ' ', (byte) 0, (short) 0, "\u00e4\u20ac\ud83d\ude00".repeat(50), new int[0], new int[0]));
        out.add(turns(5));
        out.add(new Values(6).own(7));
        out.add(notYet(1) + notYet(9));
        System.out.println(out);
    }
}
