/** Runs ten thousand steps. */
public class Advised {
    static int step(int i) {
        if (i % 4 == 0) {
            return 3;
        }
        return 1;
    }

    public static void main(String[] args) {
        long sum = 0;
        for (int i = 0; i < 10_000; i++) {
            sum += step(i);
        }
        System.out.println("sum " + sum);
    }
}
