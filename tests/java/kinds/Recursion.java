package kinds;

/** Direct and mutual recursion, and recursion of an instance method. */
public class Recursion {
    public static void main(String[] args) {
        long sum = fibonacci(12) + ackermann(2, 3);
        sum += isEven(40) ? 1 : 0;
        sum += new Recursion().countdown(25);
        System.out.println(sum);
    }

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    static int ackermann(int m, int n) {
        if (m == 0) {
            return n + 1;
        }
        return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
    }

    static boolean isEven(int n) {
        return n == 0 || isOdd(n - 1);
    }

    static boolean isOdd(int n) {
        return n != 0 && isEven(n - 1);
    }

    int countdown(int n) {
        return n == 0 ? 0 : 1 + this.countdown(n - 1);
    }
}
