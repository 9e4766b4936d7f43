package jobs;

/**
 * Two levels below Timed, three below Task. `loop` has five iterations, each with two iterations of
 * an inner loop.
 */
class Print extends Base {
    @Override
    public int run(int n) {
        return super.run(n) + loop(5);
    }

    static int loop(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < 2; j++) {
                s += i * j + (s & 3);
            }
        }
        return s;
    }
}
