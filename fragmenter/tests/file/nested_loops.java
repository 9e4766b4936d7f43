//! test liveness policy=block
class nested_loops {
    static int triangle(int n) {
        int sum = 0; // f0 use {} def {sum, i} live-in {n} live-out {n, sum, i} -> f1
        for (int i = 0; i < n; i++) {
            // f1 use {n, i} def {} live-in {n, sum, i} live-out {n, sum, i} loop -> f2 f6
            // f5 use {i} def {i} live-in {n, sum, i} live-out {n, sum, i} -> f1
            for (int j = 0; j < i; j++) {
                // f2 use {} def {j} live-in {n, sum, i} live-out {n, sum, i, j} -> f3
                // f3 use {i, j} def {} live-in {n, sum, i, j} live-out {n, sum, i, j} loop -> f4 f5
                sum += j;
                    // f4 use {sum, j} def {sum, j} live-in {n, sum, i, j} live-out {n, sum, i, j} -> f3
            }
        }
        return sum; // f6 use {sum} def {} live-in {sum} live-out {} -> none
    }
}
