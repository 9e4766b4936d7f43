//! test liveness policy=block
class do_while {
    static int digits(int n) {
        int count = 0; // f0 use {} def {count} live-in {n} live-out {n, count} -> f1
        do {
            n = n / 10;
                // f1 use {n, count} def {n, count} live-in {n, count} live-out {n, count} loop -> f2 f1
            count++;
        } while (n != 0);
        return count; // f2 use {count} def {} live-in {count} live-out {} -> none
    }
}
