package kinds;

/** Static and instance initialisers, of classes, interfaces, enums and constants. */
public class Initialisers {
    static final int START = initial(3);
    private final int field = initial(4);

    static {
        initial(5);
    }

    {
        initial(6);
    }

    public static void main(String[] args) {
        long sum = START + new Initialisers().field + new Initialisers().field;
        for (Level level : Level.values()) {
            sum += level.weight();
        }
        sum += Below.own() + Lazy.VALUE.length() + new WithDefault().value();
        System.out.println(sum);
    }

    static int initial(int n) {
        return n;
    }

    static class Above {
        static int count = initial(7);
    }

    static class Below extends Above {
        static int sum = count + initial(8);

        static int own() {
            return sum;
        }
    }

    static class Lazy {
        static final String VALUE = String.valueOf(initial(9));
    }

    interface Default {
        Object MARK = String.valueOf(initial(10));

        default int value() {
            return MARK.hashCode() == 0 ? 0 : initial(11);
        }
    }

    static class WithDefault implements Default {
    }

    enum Level {
        LOW(1),
        HIGH(initial(2)) {
            @Override
            int weight() {
                return super.weight() * 2;
            }
        };

        private final int weight;

        Level(int weight) {
            this.weight = weight;
        }

        int weight() {
            return weight;
        }
    }
}
