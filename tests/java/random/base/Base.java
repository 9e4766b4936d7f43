package base;

/** What the generated classes, which are of another package, extend. */
public class Base {
    protected int inherited;

    protected Base(int inherited) {
        this.inherited = inherited & 0xffff;
    }

    protected int up(int x) {
        return x * 3 + inherited;
    }
}
