import java.util.ArrayList;
import java.util.List;

/** Fills the heap seven times, and catches the error each time in the method that fills it. */
public class Full {
    static long fill(int round) {
        List<Object> hold = new ArrayList<>();
        long filled = 0;
        try {
            while (true) {
                hold.add(new byte[1 << 18]);
                filled++;
            }
        } catch (OutOfMemoryError e) {
            // Older frames may still refer to this list, so it is emptied.
            hold.clear();
        }
        return filled;
    }

    public static void main(String[] args) {
        for (int round = 0; round < 7; round++) {
            System.out.println("full " + (fill(round) > 20));
            long sum = 0;
            for (int i = 0; i < 1_000_000; i++) {
                sum += new byte[16].length;
            }
            System.out.println(sum);
        }
    }
}
