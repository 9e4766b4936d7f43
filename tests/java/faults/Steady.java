/**
 * Prints a known sum after a hundred rounds. The optional argument is the pause after each round in
 * milliseconds.
 */
public class Steady {
    static int step(int i) {
        if (i % 3 == 0) {
            return 1;
        }
        return 2;
    }

    static long round(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += step(i);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int pause = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        long sum = 0;
        for (int n = 0; n < 100; n++) {
            sum += round(300);
            if (pause > 0) {
                Thread.sleep(pause);
            }
        }
        System.out.println("sum " + sum);
    }
}
