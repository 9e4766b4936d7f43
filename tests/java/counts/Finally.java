//! `finally`: the compiler emits its code once for each exit. Normal, return, exception, break,
//! continue, nested, overriding a return, and try-with-resources.

public class Finally {
    static int log;

    static int normal(int n) { // entries 3; exits 3
        int s = 0; // blocks 3
        try {
            s = n / (n - 3);
        } catch (ArithmeticException e) { // blocks 1
            s = -1;
        } finally {
            log += 1; // blocks 0
        }
        return s; // blocks 3
    }

    static int returning(int n) { // entries 2; exits 2; timer 2
        try {
            return n * 2; // blocks 2
        } finally {
            log += 10; // blocks 0
        }
    }

    static int passing(int n) { // entries 4; exits 4; timer 4
        try {
            if (n > 2) { // blocks 4
                throw new IllegalStateException(); // blocks 2
            }
        } finally {
            log += 100; // blocks 2 2
        }
        return n; // blocks 2
    }

    static int leaving(int n) { // entries 2; exits 2
        int s = 0; // blocks 2
        for (int i = 0; i < n; i++) { // blocks 9 7
            try {
                if (i == 1) { // blocks 8
                    continue;
                }
                if (i == 4) { // blocks 6
                    break;
                }
                s += i; // blocks 5
            } finally {
                s += 50; // blocks 2 1 0
            }
        }
        return s; // blocks 2
    }

    @SuppressWarnings("finally")
    static int overriding(int n) { // entries 2; exits 2; timer 2
        try {
            return 10 / n; // blocks 2
        } finally {
            return 7; // blocks 1
        }
    }

    static class Resource implements AutoCloseable {
        final int id;

        Resource(int id) { // entries 2; exits 2; blocks 2
            this.id = id;
        }

        @Override
        public void close() { // entries 2; exits 2
            log += id; // blocks 2
        }
    }

    static int resources(int n) { // entries 2; exits 2
        try (Resource a = new Resource(1000)) { // blocks 2 1 0 1
            return a.id / n;
        } catch (ArithmeticException e) { // blocks 1
            return -5;
        }
    }

    static int caught(int n) { // entries 4; exits 4
        try {
            return passing(n); // blocks 4
        } catch (IllegalStateException e) { // blocks 2
            return -n;
        }
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = normal(1) + normal(3) + normal(5); // blocks 1
        int b = returning(8) + returning(9);
        int c = caught(1) + caught(2) + caught(3) + caught(4);
        int d = leaving(3) + leaving(10);
        int e = overriding(5) + overriding(0);
        int f = resources(4) + resources(0);
        System.out.println(a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + log);
    }
}
