//! test types policy=block
class long_double {
    static double mean(long[] values, double start) {
        long sum = 0;
            // f0 live-in {values:long[], start:double} def {sum:long, scale:double, i:int} -> f1
        double scale = start;
        for (int i = 0; i < values.length; i++) {
            // f1 live-in {values:long[], sum:long, scale:double, i:int} def {} -> f2 f3
            long v = values[i];
                // f2 live-in {values:long[], sum:long, scale:double, i:int} def {sum:long, scale:double, i:int, v:long} -> f1
            sum += v;
            scale = scale * 0.5;
        }
        return sum * scale; // f3 live-in {sum:long, scale:double} def {} -> none
    }

    static float small(byte b, char c, short s, boolean z, float f) {
        if (z) { // f0 live-in {b:byte, c:char, s:short, z:boolean, f:float} def {} -> f1 f2
            return b + c; // f1 live-in {b:byte, c:char} def {} -> none
        }
        return s + f; // f2 live-in {s:short, f:float} def {} -> none
    }
}
