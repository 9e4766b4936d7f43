//! test liveness policy=block
class lambda {
    static int apply(int base, int n) {
        java.util.function.IntUnaryOperator f = x -> x > 0 ? x + base : base;
            // apply f0 use {base, n} def {f, g} live-in {base, n} live-out {} -> none
            // lambda$apply$0 f0 use {x} def {} live-in {base, x} live-out {base, x} -> f1 f2
            // lambda$apply$0 f1 use {base, x} def {s0} live-in {base, x} live-out {s0} -> f3
            // lambda$apply$0 f2 use {base} def {s0} live-in {base} live-out {s0} -> f3
            // lambda$apply$0 f3 use {s0} def {} live-in {s0} live-out {} -> none
        java.util.function.IntUnaryOperator g = x -> {
            int y = x * base; // f0 use {base, x} def {y} live-in {base, x} live-out {} -> none
            return y;
        };
        return f.applyAsInt(n) + g.applyAsInt(n);
    }
}
