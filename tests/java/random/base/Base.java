package base;

/** The superclass of the generated classes, which are in another package. */
public class Base {
    protected int inherited;

    protected Base(int inherited) {
        this.inherited = inherited & 0xffff;
    }

    protected int up(int x) {
        return x * 3 + inherited;
    }
}
