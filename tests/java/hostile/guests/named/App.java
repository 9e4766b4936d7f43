package named;

/**
 * Methods whose descriptors contain classes that are loaded late (`Late`) or never (`Opt`,
 * `Never`).
 */
public class App {
    static int sum;

    public static void run() throws Exception {
        for (int i = 0; i < 300; i++) {
            sum += i;
            Thread.sleep(10);
            if (i == 1000) {
                choose(null, null);
            }
        }
        System.out.println(late(3));
    }

    static Opt choose(Opt opt, Never never) {
        for (int i = 0; i < 3; i++) {
            if (opt != null) {
                opt.use();
            }
            if (never != null) {
                never.use();
            }
        }
        return opt;
    }

    static int late(int i) {
        return i > 2 ? value(null) : 0;
    }

    static int value(Late late) {
        for (int i = 0; i < 3; i++) {
            if (late != null) {
                return late.value;
            }
        }
        return 5;
    }

    public static int once() {
        return value(null);
    }
}

class Opt {
    static {
        System.out.println("Opt is initialised");
    }

    void use() {}
}

class Never {
    void use() {}
}

class Late {
    int value;
}
