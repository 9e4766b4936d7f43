//! Constructors: this(...) and super(...) chains, field initialisers (copied into each constructor that
//! calls super), instance initialiser blocks, final fields set on two paths, inner and local classes,
//! loops and handlers in constructors, an anonymous class.

public class Constructors {
    static int made;

    static class Base {
        final int a;
        final String name;
        int tick = 5;

        {
            made += tick;
        }

        Base(int a, String name) { // entries 6; exits 6; blocks 6
            this.a = a;
            this.name = name;
        }

        Base(int a) { // entries 3; exits 3; timer 3
            this(a, "base" + a); // blocks 3
        }

        int value() { // entries 5; exits 5
            return a + name.length(); // blocks 5
        }
    }

    static class Derived extends Base {
        final long wide;
        final int[] squares = new int[4];

        Derived(int n, boolean big) { // entries 2; exits 2; timer 2
            super(n * 1000, "big"); // blocks 2
            if (big) {
                wide = 1L << 40; // blocks 1
            } else {
                wide = n; // blocks 1
            }
            for (int i = 0; i < squares.length; i++) { // blocks 2 10
                squares[i] = i * i + n; // blocks 8
            }
        } // blocks 2

        Derived() { // entries 1; exits 1
            super(checked(3)); // blocks 1
            wide = -1;
        }

        static int checked(int n) { // entries 1; exits 1
            if (n < 0) { // blocks 1
                throw new IllegalArgumentException("negative"); // blocks 0
            }
            return n; // blocks 1
        }

        @Override
        int value() { // entries 3; exits 3
            return super.value() + (int) (wide % 1000) + squares[3]; // blocks 3
        }
    }

    static class Careful {
        final int result;

        Careful(String text) { // entries 3; exits 3; blocks 3
            int parsed;
            try {
                parsed = Integer.parseInt(text);
            } catch (NumberFormatException e) { // blocks 2
                parsed = -1;
            }
            result = parsed; // blocks 3
        }
    }

    static class Failing {
        Failing(int n) { // entries 5; exits 5; timer 5; blocks 5
            if (n > 1) {
                throw new IllegalStateException("fails " + n); // blocks 3
            }
        } // blocks 2
    }

    class Inner {
        final int outer;

        Inner(int n) { // entries 2; exits 2; blocks 2
            outer = depth * n;
        }
    }

    final int depth;

    Constructors(int depth) { // entries 1; exits 1; blocks 1
        this.depth = depth;
    }

    static int failing(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 6 5
            try {
                s += new Failing(i) == null ? 1 : 2; // blocks 5 0 2 2
            } catch (IllegalStateException e) { // blocks 3
                s += e.getMessage().length();
            }
        }
        return s; // blocks 1
    }

    static Base anonymous(int seed) { // entries 1; exits 1
        int local = seed * 3; // blocks 1
        return new Base(seed) { // blocks 1
            final int own = local + 1;

            @Override
            int value() { // entries 1; exits 1
                return own * 2; // blocks 1
            }
        };
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = new Base(1).value() + new Base(2, "two").value(); // blocks 1
        int b = new Derived(4, true).value() + new Derived(5, false).value() + new Derived().value();
        int c = new Careful("12").result + new Careful("x").result + new Careful("").result;
        int d = failing(5);
        Constructors outer = new Constructors(6);
        int e = outer.new Inner(7).outer + outer.new Inner(8).outer;
        int f = anonymous(11).value();
        System.out.println(a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + made);
    }
}
