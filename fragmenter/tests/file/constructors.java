//! test points policy=block
class constructors {
    final int size;

    constructors(int size) { // f0 c0@4 exit c1 -> none
        this.size = size;
    }

    constructors(boolean big) {
        this(big ? 100 : 1);
            // f0 -> f1 f2
            // f1 no BeforeSuper -> f3
            // f2 no BeforeSuper -> f3
            // f3 c0@14 no BeforeSuper -> f4 f5
        if (size > 50) {
            System.out.println(this); // f4 c1 -> f5
        }
    } // f5 c2 -> none

    static class Derived extends constructors {
        final String name;

        Derived(String name) {
            super(name.length()); // f0 c0@8 -> f1
            for (int i = 0; i < size; i++) { // f1 c1 loop -> f2 f3
                System.out.println(i); // f2 c2 -> f1
            }
            this.name = name; // f3 c3 exit c4 -> none
        }
    }
}
