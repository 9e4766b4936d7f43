/** Its methods name `Gone`, `GoneError` and `GoneBase`, whose class files are deleted after compilation. */
public class Optional {
    static Gone kept;

    static int plain(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        return sum;
    }

    static int takes(Gone gone, int n) {
        int sum = gone == null ? 1 : gone.value();
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        return sum;
    }

    static Gone gives(boolean really) {
        return really ? new Gone() : null;
    }

    static int maybe(boolean really, int n) {
        if (really) {
            Gone gone = new Gone();
            gone.run();
            return gone.value();
        }
        return n;
    }

    /** A local of the missing type is live in the loop. */
    static int live(boolean really, int n) {
        Gone gone = really ? new Gone() : null;
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += gone == null ? 2 : gone.value();
        }
        return sum;
    }

    static int caught(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            try {
                sum += maybe(i == 2, i);
            } catch (NoClassDefFoundError e) {
                sum += 100;
            }
        }
        return sum;
    }

    static int rare(int n) {
        try {
            return 10 / n;
        } catch (GoneError e) {
            return -1;
        }
    }

    static int statics(boolean really) {
        if (really) {
            kept = new Gone();
        }
        return kept == null ? 5 : 6;
    }

    static String attempt(String name, java.util.function.IntSupplier action) {
        try {
            return name + " " + action.getAsInt();
        } catch (Throwable e) {
            return name + " " + e;
        }
    }

    public static void main(String[] args) {
        for (int turn = 0; turn < 3; turn++) {
            System.out.println(attempt("plain", () -> plain(4)));
            System.out.println(attempt("takes", () -> takes(null, 4)));
            System.out.println(attempt("gives", () -> gives(false) == null ? 1 : 0));
            System.out.println(attempt("gives", () -> gives(true) == null ? 1 : 0));
            System.out.println(attempt("maybe", () -> maybe(false, 4)));
            System.out.println(attempt("maybe", () -> maybe(true, 4)));
            System.out.println(attempt("live", () -> live(false, 4)));
            System.out.println(attempt("caught", () -> caught(4)));
            System.out.println(attempt("rare", () -> rare(5)));
            System.out.println(attempt("rare", () -> rare(0)));
            System.out.println(attempt("statics", () -> statics(false)));
        }
    }
}

class GoneBase {
    int value() {
        return 7;
    }
}

class Gone extends GoneBase implements Runnable {
    @Override
    public void run() {
    }
}

class GoneError extends ArithmeticException {
}
