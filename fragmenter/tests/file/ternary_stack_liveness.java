//! test liveness policy=block
class ternary_stack_liveness {
    static int pick(int a, boolean p, int b, int c) {
        return a * (p ? b : c);
            // f0 use {a, p} def {s0} live-in {a, p, b, c} live-out {b, c, s0} -> f1 f2
            // f1 use {b, s0} def {s1} live-in {b, s0} live-out {s0, s1} -> f3
            // f2 use {c, s0} def {s1} live-in {c, s0} live-out {s0, s1} -> f3
            // f3 use {s0, s1} def {} live-in {s0, s1} live-out {} -> none
    }

    static String made(boolean p) {
        return new String(p ? "a" : "b");
            // f0 use {p} def {s0, s1} live-in {p} live-out {s0, s1} -> f1 f2
            // f1 use {s0, s1} def {s2} live-in {s0, s1} live-out {s0, s1, s2} -> f3
            // f2 use {s0, s1} def {s2} live-in {s0, s1} live-out {s0, s1, s2} -> f3
            // f3 use {s0, s1, s2} def {} live-in {s0, s1, s2} live-out {} -> none
    }
}
