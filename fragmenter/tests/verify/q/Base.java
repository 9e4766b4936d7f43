package q;

/** Protected members that another package can access only through subclasses. */
public class Base {
    protected int field = 1;
    protected long wide = 2;

    protected Base() {}

    protected Base(int field) {
        this.field = field;
    }

    protected int guarded(int n) {
        return field + n;
    }

    public int open(int n) {
        return field - n;
    }

    protected static int shared() {
        return 7;
    }
}
