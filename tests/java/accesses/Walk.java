/**
 * Reads and writes elements of one large array, in an order that the test computes too. The array is larger
 * than half a region of G1, so it begins at a region. {@code walk} accesses nothing else.
 */
public class Walk {
    public static void main(String[] args) {
        int[] data = new int[Integer.parseInt(args[0])];
        System.out.println("sum " + walk(data, Long.parseLong(args[1]), Integer.parseInt(args[2])));
    }

    /** A quarter of the accesses writes. One half is at random, and the other half goes through the array. */
    static int walk(int[] data, long state, int count) {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int index = (state & 1L << 40) == 0 ? (int) (state >>> 33) % data.length : i * 7 % data.length;
            if (state >>> 62 == 0) {
                data[index] = i;
            } else {
                sum += data[index];
            }
        }
        return sum;
    }
}
