//! test liveness policy=block
class straight_line {
    static int twice(int a, int b) {
        int c = a + b; // f0 use {a, b} def {c, unused} live-in {a, b} live-out {} -> none
        int unused = 7;
        c = c * 2;
        return c;
    }

    static void nothing() {
    } // f0 use {} def {} live-in {} live-out {} -> none
}
