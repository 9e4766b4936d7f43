//! test liveness policy=block
class switch_lookup {
    static int name(int k, int other) {
        return switch (k) {
            // f0 use {k} def {} live-in {k, other} live-out {k, other} -> f1 f2 f3
            // f4 use {s0} def {} live-in {s0} live-out {} -> none
            case -1000 -> other; // f1 use {other} def {s0} live-in {other} live-out {s0} -> f4
            case 70000 -> k + 1; // f2 use {k} def {s0} live-in {k} live-out {s0} -> f4
            default -> 0; // f3 use {} def {s0} live-in {} live-out {s0} -> f4
        };
    }
}
