//! test liveness policy=loop
class nested_loops_regions {
    static int triangle(int n) {
        int sum = 0; // f0 use {} def {sum, i} live-in {n} live-out {n, sum, i} -> f1
        for (int i = 0; i < n; i++) {
            // f1 use {n, sum, i} def {j} live-in {n, sum, i} live-out {n, sum, i, j} loop -> f2
            for (int j = 0; j < i; j++) {
                // f2 use {sum, i, j} def {sum, i, j} live-in {n, sum, i, j} live-out {n, sum, i, j} loop -> f2 f1
                if ((j & 1) == 0) {
                    sum += j;
                } else {
                    sum -= i;
                }
            }
        }
        return sum;
    }

    static int joined(int a, boolean p) {
        int b = a; // f0 use {a, p} def {b} live-in {a, p} live-out {a, b} -> f1
        if (p) {
            b = a * 2;
        } else {
            b = a * 3;
        }
        while (b > 10) { // f1 use {a, b} def {b} live-in {a, b} live-out {a, b} loop -> f1
            b -= a;
        }
        return b;
    }
}
