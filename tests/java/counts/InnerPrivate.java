//! Private members across nestmates: methods, fields, constructors of inner, nested and outer classes.

public class InnerPrivate { // blocks 1
    private int secret = 1;
    private static int shared = 10;

    private int own(int n) { // entries 7; exits 7; timer 7
        return secret * n; // blocks 7
    }

    private static int ownStatic(int n) { // entries 6; exits 6; timer 6
        shared += n; // blocks 6
        return shared;
    }

    private class Inner {
        private int hidden;

        private Inner(int hidden) { // entries 1; exits 1; blocks 1
            this.hidden = hidden;
        }

        private int reach(int n) { // entries 6; exits 6; timer 6
            secret += n; // blocks 6
            return own(n) + hidden++ + ownStatic(1);
        }
    }

    private static class Nested { // blocks 1
        private long wide = 1L << 34;

        private long grow(int n) { // entries 1; exits 1; timer 1
            for (int i = 0; i < n; i++) { // blocks 1 6
                wide += i; // blocks 5
            }
            return wide; // blocks 1
        }

        private static int peek(InnerPrivate object) { // entries 1; exits 1
            return object.secret + object.own(2); // blocks 1
        }
    }

    private int run(int n) { // entries 1; exits 1
        Inner inner = new Inner(5); // blocks 1
        int s = 0;
        for (int i = 0; i < n; i++) { // blocks 7
            s += inner.reach(i); // blocks 6
            inner.hidden += 2;
        }
        return s + inner.hidden; // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1
        InnerPrivate object = new InnerPrivate(); // blocks 1
        int a = object.run(6);
        Nested nested = new Nested();
        long b = nested.grow(5) + nested.wide;
        int c = Nested.peek(object);
        System.out.println(a + " " + b + " " + c + " " + shared);
    }
}
