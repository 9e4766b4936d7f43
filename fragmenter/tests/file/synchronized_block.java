//! test points policy=block
class synchronized_block {
    int sum;

    int add(int n) {
        int r = 0; // f0 c0 -> f1
        for (int i = 0; i < n; i++) { // f1 c1 loop -> f2 f7
            synchronized (this) { // f2 c2 -> f3 f4 !f5 any
                if (sum < 100) {
                    sum += i; // f3 no MonitorHeld -> f4 !f5 any
                }
            }
                // f4 no MonitorHeld -> f6 !f5 any
                // f5 no MonitorHeld loop -> none !f5 any
            r = sum; // f6 c3 -> f1
        }
        return r; // f7 c4 exit c5 -> none
    }

    synchronized int whole(int n) {
        while (n > 0) { // f0 c0 c1 loop -> f1 f2
            n -= sum; // f1 c2 -> f0
        }
        return n; // f2 c3 -> none
    }
}
