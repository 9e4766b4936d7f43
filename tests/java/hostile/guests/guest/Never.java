package guest;

/** A class that is never loaded. */
public class Never {
    Opt opt;

    Never(Never other, Never[] others, java.util.function.IntSupplier more) {}
}

/** A class that is never loaded. */
class Opt {
    void use(Never never) {}
}

/** Loaded in the first phase. */
class Late {
    final int value;

    Late(int value) {
        this.value = value;
    }
}

/** Loaded in the third phase. */
class Later extends Work {
    int late() {
        int sum = 0;
        for (int i = 0; i < 5; i++) {
            sum += super.step(null, null, i) + late(null, 2) + count;
        }
        return sum;
    }
}

/** A subclass that is never loaded. */
class Heir extends Work {}

class Absent {}

class Broken {}

class Worse {}

class Deeper {}

class Deepest {}
