//! Default methods: inherited, overridden, and called as `Interface.super.method()` from a class that
//! inherits two of them; a diamond; a generic default with a bridge.

public class InterfaceDefault {
    interface Named {
        default String name() { // entries 3; exits 3; timer 3
            return "named"; // blocks 3
        }

        default int weight(int n) { // entries 3; exits 3
            return n + 1; // blocks 3
        }
    }

    interface Labelled {
        default String name() { // entries 2; exits 2
            return "labelled"; // blocks 2
        }
    }

    interface Sub extends Named {
        @Override
        default int weight(int n) { // entries 2; exits 2; timer 2
            return Named.super.weight(n) * 10; // blocks 2
        }
    }

    interface Source<T> {
        T get();

        default T twice() { // entries 2; exits 2
            get(); // blocks 2
            return get();
        }
    }

    static class Both implements Named, Labelled { // blocks 1
        @Override
        public String name() { // entries 1; exits 1; timer 1
            String s = ""; // blocks 1
            for (int i = 0; i < 2; i++) { // blocks 3
                s += Named.super.name() + "+" + Labelled.super.name(); // blocks 2
            }
            return s; // blocks 1
        }
    }

    static class Plain implements Sub {} // blocks 1

    static class Numbers implements Source<Integer> { // blocks 1 5
        int next;

        @Override
        public Integer get() { // entries 5; exits 5
            return next++; // blocks 5
        }
    }

    public static void main(String[] args) { // entries 1; exits 1
        Named a = new Both(); // blocks 1
        Named b = new Plain();
        Source<Integer> c = new Numbers();
        int d = a.weight(1) + b.weight(2) + b.weight(3);
        int e = c.twice() + c.twice() + c.get();
        System.out.println(a.name() + " " + b.name() + " " + d + " " + e);
    }
}
