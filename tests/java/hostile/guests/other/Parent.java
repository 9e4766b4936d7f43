package other;

/** A class whose verification loads two classes: `Special` is assigned to `General`. */
public class Parent {
    protected int count = 3;

    protected int step(int i) {
        return i > 1000 ? general(null).value : i;
    }

    static General general(Special special) {
        return special;
    }
}

class General {
    int value;
}

class Special extends General {}
