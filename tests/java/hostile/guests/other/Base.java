package other;

/** A superclass in another package, whose protected members mention classes that are never loaded. */
public class Base {
    protected Unseen unseen;
    protected Unseen[][] grid;
    protected static Unseen shared;
    protected int count = 3;

    protected int step(Unseen unseen, Unseen[] row, int i) {
        int sum = 0;
        for (int k = 0; k < 3; k++) {
            sum += unseen == null && row == null ? i + k : 1000;
        }
        return sum;
    }

    protected int inherited(int i) {
        return i > 2 ? 4 : count;
    }

    protected static Unseen none(Unseen unseen, int turns) {
        Unseen found = unseen;
        for (int i = 0; i < turns; i++) {
            if (found != null) {
                found.use();
            }
        }
        return found;
    }
}
