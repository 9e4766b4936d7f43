//! test liveness policy=block
class if_else {
    static int max(int a, int b) {
        int m;
        if (a > b) { // f0 use {a, b} def {} live-in {a, b} live-out {a, b} -> f1 f2
            m = a; // f1 use {a} def {m} live-in {a} live-out {m} -> f3
        } else {
            m = b; // f2 use {b} def {m} live-in {b} live-out {m} -> f3
        }
        return m; // f3 use {m} def {} live-in {m} live-out {} -> none
    }

    static int both(boolean p, boolean q, int x) {
        if (p && q) {
            // f0 use {p} def {} live-in {p, q, x} live-out {q, x} -> f1 f3
            // f1 use {q} def {} live-in {q, x} live-out {x} -> f2 f3
            x++; // f2 use {x} def {x} live-in {x} live-out {x} -> f3
        }
        return x; // f3 use {x} def {} live-in {x} live-out {} -> none
    }
}
