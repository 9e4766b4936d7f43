package named;

import other.Parent;

/** A class that uses protected members of its superclass, which is in another package. */
public class Unlinked extends Parent {
    public static void run() {
        System.out.println(new Unlinked().sum());
    }

    @Override
    protected int step(int i) {
        return super.step(i) + 1;
    }

    int sum() {
        int sum = 0;
        for (int i = 0; i < 3; i++) {
            sum += step(i) + super.step(i) + count;
        }
        return sum;
    }
}
