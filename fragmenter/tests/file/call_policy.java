//! test points policy=call
class call_policy {
    static int remoteAdd(int a, int b) {
        return a + b; // f0 c0 -> none
    }

    static int client(int n) {
        int local = n * 2; // f0 c0 -> f1
        int sum = remoteAdd(local, n); // f1 c1 -> f3 f2
        if (sum > 10) {
            sum = sum + remoteAdd(sum, 1); // f2 c2 -> f3
        }
        return sum; // f3 exit c3 -> none
    }

    static Object made(int n) {
        return new StringBuilder(remoteAdd(n, n)).append(n);
            // f0 c0 -> f1
            // f1 exit c1 no UninitializedObject -> none
    }
}
