/** The class that the loaders load. f0 → f1 header → f2 body → f1; f1 → f3. */
public class Guest implements java.util.function.IntUnaryOperator {
    private int calls;

    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        return sum;
    }

    @Override
    public int applyAsInt(int n) {
        calls++;
        Helper helper = new Helper(n);
        java.util.function.IntSupplier later = () -> helper.twice() + calls;
        return work(n) + later.getAsInt();
    }

    /** A class that only the loader of Guest finds. */
    static class Helper {
        private final int n;

        Helper(int n) {
            this.n = n;
        }

        int twice() {
            return 2 * n;
        }
    }
}
