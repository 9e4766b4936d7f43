package jobs;

import java.util.function.IntUnaryOperator;

/** No Task, though it looks like one. */
class Other implements IntUnaryOperator {
    @Marked
    int run(int n) {
        return 5 * n;
    }

    @Override
    public int applyAsInt(int n) {
        return 7 * n;
    }
}
