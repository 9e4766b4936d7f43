package jobs;

import java.util.function.IntUnaryOperator;

/** Not a Task, although it has the same methods. */
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
