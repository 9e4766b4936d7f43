package kinds;

/** Allocates objects and arrays of each kind. */
public class Arrays {
    static Object kept;

    public static void main(String[] args) {
        for (int i = 0; i < 12; i++) {
            make(i);
        }
        System.out.println(kept);
    }

    static void make(int n) {
        kept = new int[n];
        if (n % 2 == 0) {
            kept = new String[n][];
        }
        if (n % 3 == 0) {
            kept = new long[n][2];
        }
        try {
            kept = new double[n - 2];
        } catch (NegativeArraySizeException e) {
            kept = new Arrays();
        }
        kept = "end";
    }
}
