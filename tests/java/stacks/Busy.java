/** Spends its time in {@code busy}, for an external profiler. */
public class Busy {
    static volatile long sink;

    static long busy(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            if ((i & 7) == 3) {
                sum += i * 31L;
            } else {
                sum ^= sum << 1;
            }
        }
        return sum;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 3000; i++) {
            sink += busy(400_000);
        }
    }
}
