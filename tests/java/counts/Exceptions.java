//! Exceptions: thrown and caught in one method, from a callee, through a method without a handler,
//! multi-catch, rethrown, nested handlers, implicit ones (division, null, bounds, cast).

public class Exceptions {
    static class Odd extends RuntimeException {
        final int number;

        Odd(int number) { // entries 7; exits 7
            super("odd " + number); // blocks 7
            this.number = number;
        }
    }

    static int half(int n) { // entries 14; exits 14; timer 14
        if (n % 2 != 0) { // blocks 14
            throw new Odd(n); // blocks 7
        }
        return n / 2; // blocks 7
    }

    static int through(int n) { // entries 11; exits 11; timer 11
        int r = half(n); // blocks 11
        return r + 1;
    }

    static int local(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 11 10
            try {
                if (i % 4 == 0) { // blocks 10
                    throw new IllegalStateException("four"); // blocks 3
                }
                s += i; // blocks 7
            } catch (IllegalStateException e) { // blocks 3
                s += 1000;
            }
        }
        return s; // blocks 1
    }

    static int fromCallee(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 12 11
            try {
                s += through(i); // blocks 11
            } catch (Odd e) { // blocks 5
                s -= e.number;
            }
        }
        return s; // blocks 1
    }

    static int implicit(int kind) { // entries 6; exits 6
        Object[] one = {"x"}; // blocks 6
        try {
            switch (kind) {
                case 0:
                    return 1 / (kind * 2); // blocks 1
                case 1:
                    return ((String) null).length(); // blocks 1
                case 2:
                    one[kind] = "y"; // blocks 1
                    break;
                case 3:
                    return (Integer) one[0]; // blocks 1
                default:
                    return 99; // blocks 2
            }
        } catch (ArithmeticException | NullPointerException e) { // blocks 2
            return 1;
        } catch (ArrayIndexOutOfBoundsException e) { // blocks 1
            return 2;
        } catch (RuntimeException e) { // blocks 1
            return 3;
        } // blocks 0
        return -1; // blocks 0
    }

    static int rethrow(int n) { // entries 3; exits 3; timer 3
        try {
            return half(n); // blocks 3
        } catch (Odd e) { // blocks 2
            if (n > 5) {
                throw e; // blocks 1
            }
            return -n; // blocks 1
        }
    }

    static int nested(int n) { // entries 3; exits 3
        int s = 0; // blocks 3
        try {
            s += 1;
            try {
                s += rethrow(n);
            } catch (IllegalStateException e) { // blocks 0
                s += 100;
            }
            s += 10; // blocks 2
        } catch (Odd e) { // blocks 1
            s += 1000;
        }
        return s; // blocks 3
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = local(10); // blocks 1
        int b = fromCallee(11);
        int c = 0;
        for (int kind = 0; kind < 6; kind++) { // blocks 7
            c = c * 10 + implicit(kind); // blocks 6
        }
        int d = nested(4) + nested(3) * 3 + nested(7) * 5; // blocks 1
        System.out.println(a + " " + b + " " + c + " " + d);
    }
}
