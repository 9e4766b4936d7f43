//! Synchronized blocks: around a loop, inside a loop, nested, left by return, break, continue and by an
//! exception. The compiler adds a handler that releases the monitor; it runs only for exceptions.

public class SynchronizedBlocks {
    private static final Object FIRST = new Object();
    private static final Object SECOND = new Object();

    static int around(int n) { // entries 1; exits 1; timer 1
        int s = 0; // blocks 1
        synchronized (FIRST) {
            for (int i = 0; i < n; i++) { // blocks 16
                s += i; // blocks 15
            }
        } // blocks 1 0
        return s; // blocks 1
    }

    static int inside(int n) { // entries 1; exits 1; timer 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 13 12
            synchronized (FIRST) { // blocks 12
                s += i * 2;
            } // blocks 0
        }
        return s; // blocks 1
    }

    static int nested(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 8 7
            synchronized (FIRST) { // blocks 7
                s++;
                synchronized (SECOND) {
                    if (i % 2 == 0) {
                        continue; // blocks 4
                    }
                    s += 10; // blocks 3
                } // blocks 0
            } // blocks 3 0
        }
        return s; // blocks 1
    }

    static int returning(int n) { // entries 3; exits 3; timer 3
        synchronized (SECOND) { // blocks 3
            if (n > 3) {
                return n; // blocks 1
            }
        } // blocks 2 0
        return -n; // blocks 2
    }

    static int failing(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 7 6
            try {
                synchronized (FIRST) { // blocks 6
                    s += 12 / (i - 2);
                } // blocks 1
            } catch (ArithmeticException e) { // blocks 1
                s += Thread.holdsLock(FIRST) ? 5000 : 500; // blocks 0 1 1
            } // blocks 5
        }
        return s; // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = around(15); // blocks 1
        int b = inside(12);
        int c = nested(7);
        int d = returning(2) + returning(3) + returning(4);
        int e = failing(6);
        boolean f = Thread.holdsLock(FIRST) || Thread.holdsLock(SECOND); // blocks 1 0 1 1
        System.out.println(a + " " + b + " " + c + " " + d + " " + e + " " + f);
    }
}
