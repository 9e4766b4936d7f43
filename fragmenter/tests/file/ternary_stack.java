//! test types policy=block
class ternary_stack {
    static String show(StringBuilder out, int n, long big) {
        return out.append(n > 0 ? n : -n).append(big > 0 ? "p" : null).toString();
            // f0 live-in {out:java.lang.StringBuilder, n:int, big:long} def {s0:java.lang.StringBuilder} -> f1 f2
            // f1 live-in {n:int, big:long, s0:java.lang.StringBuilder} def {s1:int} -> f3
            // f2 live-in {n:int, big:long, s0:java.lang.StringBuilder} def {s1:int} -> f3
            // f3 live-in {big:long, s0:java.lang.StringBuilder, s1:int} def {s0:java.lang.StringBuilder} -> f4 f5
            // f4 live-in {s0:java.lang.StringBuilder} def {s1:java.lang.String} -> f6
            // f5 live-in {s0:java.lang.StringBuilder} def {s1:null} -> f6
            // f6 live-in {s0:java.lang.StringBuilder, s1:java.lang.String} def {} -> none
    }

    static long wide(long a, boolean p, double d) {
        return a + (p ? (long) d : 7L);
            // f0 live-in {a:long, p:boolean, d:double} def {s0:long} -> f1 f2
            // f1 live-in {d:double, s0:long} def {s1:long} -> f3
            // f2 live-in {s0:long} def {s1:long} -> f3
            // f3 live-in {s0:long, s1:long} def {} -> none
    }
}
