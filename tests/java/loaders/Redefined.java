/**
 * While `spin` and `value` are in use, its class file is replaced by one with another value of
 * STEP.
 */
public class Redefined {
    static volatile boolean stopped;

    static int value(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += 1111;
        }
        return sum;
    }

    static boolean spin() {
        long turns = 0;
        while (!stopped) {
            turns++;
        }
        return turns > 0;
    }
}
