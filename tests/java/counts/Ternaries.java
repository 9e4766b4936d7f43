//! Ternaries and conditions while the operand stack holds other values: call arguments, nested, in an
//! array store, in string concatenation, under `new` (an uninitialised object on the stack).

public class Ternaries {
    static int four(int a, int b, int c, int d) { // entries 8; exits 8; timer 8
        return a + 10 * b + 100 * c + 1000 * d; // blocks 8
    }

    static int argument(int n) { // entries 4; exits 4
        return four(1, n > 2 ? 2 : 3, n, 4); // blocks 4 2 2 4
    }

    static int inner(int n) { // entries 4; exits 4; timer 4
        return four(n, n == 0 ? 1 : n == 1 ? 2 : 3, 5, n < 2 && n > -1 ? 6 : 7); // blocks 4 1 3 1 2 4 3 2 2 4
    }

    static String text(int n, Object o) { // entries 3; exits 3; timer 3
        return "n" + n + (o == null ? "-" : o) + (n % 2 == 0 ? n / 2 : 'x') + n; // blocks 3 1 2 3 2 1 3
    }

    static String built(boolean b) { // entries 2; exits 2; timer 2
        return new StringBuilder(b ? "yes" : "no").append(b ? 1L : 2.5).toString(); // blocks 2 1 1 2 1 1 2
    }

    static int[] store(int n) { // entries 1; exits 1
        int[] numbers = new int[3]; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 9
            numbers[i % 3] += i > 4 ? numbers[0]++ : i; // blocks 8 3 5 8
        }
        return numbers; // blocks 1
    }

    static boolean logic(boolean a, boolean b, boolean c) { // entries 2; exits 2
        return a & (b || c) ^ (!a && c); // blocks 2 2 1 1 2 1 0 2 2
    }

    static int assigned(int n) { // entries 2; exits 2
        int x = 0; // blocks 2
        int y = (x = n > 1 ? n : -n) + (x > 0 ? x++ : x--) * x; // blocks 1 1 2 1 1 2
        return y;
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = argument(1) + argument(2) + argument(3) + argument(9); // blocks 1
        int b = inner(-2) ^ inner(0) ^ inner(1) ^ inner(2);
        String c = text(1, null) + text(2, "o") + text(4, 7L);
        String d = built(true) + built(false);
        int[] e = store(8);
        boolean f = logic(true, false, true) | logic(false, false, false);
        int g = assigned(1) + assigned(5);
        System.out.println(a + " " + b + " " + c + " " + d + " " + e[0] + "," + e[1] + "," + e[2] + " " + f + " " + g);
    }
}
