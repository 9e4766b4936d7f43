package other;

/** A superclass in another package with protected members for reflection and calls. */
public class Base {
    protected int guarded = 5;
    protected static int count = 3;

    protected int secret() {
        return guarded * 2;
    }

    protected static int shared(int n) {
        return n + count;
    }

    protected Base() {}

    protected Base(int guarded) {
        this.guarded = guarded;
    }
}
