//! Recursion: single, double, mutual, and with an exception thrown at the bottom through every level.

public class Recursion {
    static long factorial(int n) { // entries 12; exits 12; timer 12
        return n < 2 ? 1 : n * factorial(n - 1); // blocks 12 1 11 12
    }

    static int fibonacci(int n) { // entries 177; exits 177; timer 177
        if (n < 2) { // blocks 177
            return n; // blocks 89
        }
        return fibonacci(n - 1) + fibonacci(n - 2); // blocks 88
    }

    static boolean even(int n) { // entries 4; exits 4
        if (n == 0) { // blocks 4
            return true; // blocks 0
        }
        return odd(n - 1); // blocks 4
    }

    static boolean odd(int n) { // entries 4; exits 4
        if (n == 0) { // blocks 4
            return false; // blocks 1
        }
        return even(n - 1); // blocks 3
    }

    static int dive(int n) { // entries 16; exits 16; timer 16
        if (n == 0) { // blocks 16
            throw new IllegalStateException("bottom"); // blocks 1
        }
        return dive(n - 1) + 1; // blocks 15
    }

    static int loopAndCall(int n) { // entries 64; exits 64
        int s = 1; // blocks 64
        for (int i = 0; i < n; i++) { // blocks 127
            s += loopAndCall(i); // blocks 63
        }
        return s; // blocks 64
    }

    public static void main(String[] args) { // entries 1; exits 1
        long a = factorial(12); // blocks 1
        int b = fibonacci(10);
        boolean c = even(7);
        String d;
        try {
            d = "never " + dive(15);
        } catch (IllegalStateException e) { // blocks 1
            d = e.getMessage();
        }
        int e = loopAndCall(6); // blocks 1
        System.out.println(a + " " + b + " " + c + " " + d + " " + e);
    }
}
