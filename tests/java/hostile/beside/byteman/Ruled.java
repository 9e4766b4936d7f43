/** The program that Byteman's rules change. */
public class Ruled {
    static long noted;

    public static void note(int i) {
        noted += i;
    }

    static int step(int i) {
        return i % 4 == 0 ? 3 : 1;
    }

    static int rate(int i) {
        int rate = 0;
        for (int k = 0; k < i % 5; k++) {
            rate += k;
        }
        return rate;
    }

    static int loop(int turns) {
        int sum = 0;
        for (int i = 0; i < turns; i++) {
            sum += i;
        }
        return sum;
    }

    public static void main(String[] args) {
        long sum = 0;
        int thrown = 0;
        for (int i = 0; i < 2000; i++) {
            sum += step(i) + rate(i);
            try {
                sum += loop(i % 12);
            } catch (IllegalStateException e) {
                thrown++;
            }
        }
        System.out.println("sum " + sum + " noted " + noted + " thrown " + thrown);
    }
}
