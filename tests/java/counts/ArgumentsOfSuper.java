//! Branches before super(...) and this(...): the object is not initialised yet, so no activation
//! can leave the method there. Fragments before the call are refused (code BeforeSuper) and have no
//! rows. The fragment of the call counts from the return of the call on.

public class ArgumentsOfSuper {
    static class Base {
        final int n;
        final String text;

        Base(int n, String text) { // blocks 5
            this.n = n;
            this.text = text;
        }
    }

    static class Derived extends Base {
        final long wide;

        Derived(int n, boolean big) {
            super(big ? n * 1000 : n, big ? "big" : "small"); // blocks 5
            if (big) {
                wide = 1L << 40; // blocks 2
            } else {
                wide = n; // blocks 3
            }
        } // blocks 5

        Derived(int n) {
            this(n, n > 5); // blocks 3
        }
    }

    public static void main(String[] args) { // entries 1; exits 1
        Derived[] all = { // blocks 1
            new Derived(1, true), new Derived(2, false), new Derived(3), new Derived(4), new Derived(9),
        };
        long sum = 0;
        for (Derived one : all) { // blocks 6 5
            sum = sum * 7 + one.n + one.text.length() + one.wide;
        }
        System.out.println(sum); // blocks 1
    }
}
