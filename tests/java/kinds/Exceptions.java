package kinds;

/** Calls that end by exceptions: caught, rethrown, through several frames, in finally blocks. */
public class Exceptions {
    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 30; i++) {
            try {
                sum += outer(i);
            } catch (IllegalStateException e) {
                sum += noteCaught();
            } finally {
                sum += noteFinally();
            }
        }
        try (Resource first = new Resource(); Resource second = new Resource()) {
            sum += first.use() + second.use();
        } catch (IllegalArgumentException e) {
            sum += noteCaught() + e.getSuppressed().length;
        }
        Exceptions none = args.length == 0 ? null : new Exceptions();
        for (int i = 0; i < 3; i++) {
            try {
                sum += none.instance();
            } catch (NullPointerException e) {
                sum += noteCaught();
            }
        }
        System.out.println(sum);
    }

    static int outer(int i) {
        try {
            return middle(i);
        } catch (ArithmeticException e) {
            throw new IllegalStateException(e);
        }
    }

    static int middle(int i) {
        return inner(i) + (i % 5 == 0 ? divide(i) : 1);
    }

    static int inner(int i) {
        if (i % 7 == 3) {
            throw new IllegalStateException();
        }
        return i;
    }

    static int divide(int i) {
        return i / (i % 2);
    }

    static int noteCaught() {
        return 100;
    }

    static int noteFinally() {
        return 1000;
    }

    int instance() {
        return 1;
    }

    static class Resource implements AutoCloseable {
        int use() {
            return 1;
        }

        @Override
        public void close() {
            throw new IllegalArgumentException();
        }
    }
}
