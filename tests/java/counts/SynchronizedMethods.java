//! Synchronized methods, instance and static, with loops and exceptions inside; the lock must be free
//! after each of them, and `wait`/`notify` must find it held inside.

public class SynchronizedMethods { // blocks 1
    private int sum;
    private static int total;

    synchronized void add(int n) { // entries 20; exits 20; timer 20
        sum += n; // blocks 20
    }

    synchronized int addAll(int n) { // entries 1; exits 1
        for (int i = 0; i < n; i++) { // blocks 1 21
            add(i); // blocks 20
        }
        return sum; // blocks 1
    }

    static synchronized int count(int n) { // entries 2; exits 2; timer 2
        while (n > 0) { // blocks 11
            total += n; // blocks 9
            n--;
        }
        return total; // blocks 2
    }

    synchronized int failing(int n) { // entries 9; exits 9; timer 9
        notifyAll(); // blocks 9
        if (n % 2 == 1) {
            throw new IllegalStateException(); // blocks 4
        }
        return n; // blocks 5
    }

    int tries(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 10 9
            try {
                s += failing(i); // blocks 9
            } catch (IllegalStateException e) { // blocks 4
                s += Thread.holdsLock(this) ? 1000 : 1; // blocks 0 4 4
            }
        }
        return s; // blocks 1
    }

    synchronized boolean held() { // entries 1; exits 1
        return Thread.holdsLock(this); // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1
        SynchronizedMethods object = new SynchronizedMethods(); // blocks 1
        int a = object.addAll(20);
        int b = count(6) + count(3);
        int c = object.tries(9);
        boolean d = object.held();
        boolean e = Thread.holdsLock(object) || Thread.holdsLock(SynchronizedMethods.class); // blocks 1 0 1 1
        System.out.println(a + " " + b + " " + c + " " + d + " " + e);
    }
}
