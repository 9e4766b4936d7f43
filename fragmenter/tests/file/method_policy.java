//! test points policy=method
class method_policy {
    static int loops(int n) {
        int sum = 0; // f0 c0 exit c1 exit c2 -> none
        for (int i = 0; i < n; i++) {
            sum += Integer.bitCount(i);
        }
        if (sum > 10) {
            return 10;
        }
        return sum;
    }

    static int tiny(int n) {
        return n + 1; // f0 c0 -> none
    }
}
