/**
 * Its methods refer to `Gone` and `GoneBase`, and that of OptionalHandler to `GoneError`. The class
 * files of these are deleted after compilation.
 */
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

    static int statics(boolean really) {
        if (really) {
            kept = new Gone();
        }
        return kept == null ? 5 : 6;
    }
}

/** Cannot be linked, because the verifier needs the type of a handler. */
class OptionalHandler {
    static int rare(int n) {
        try {
            return 10 / n;
        } catch (GoneError e) {
            return -1;
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
