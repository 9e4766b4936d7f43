package kinds;

/** Inner, local and anonymous classes, constructors that call others, private members, varargs. */
public class Inner {
    private int counter;

    Inner() {
        this(1);
    }

    Inner(int start) {
        add(start);
    }

    public static void main(String[] args) {
        Inner inner = new Inner();
        Inner anonymous = new Inner(2) {
            @Override
            void add(int n) {
                super.add(n * 2);
            }
        };
        class Local {
            int value() {
                return inner.total(1, 2, 3) + anonymous.total();
            }
        }
        long sum = new Local().value() + inner.new Member().value();
        for (int i = 0; i < 5; i++) {
            sum += kindOf(i).length() + kindOf("k" + i);
        }
        System.out.println(sum);
    }

    void add(int n) {
        counter += n;
    }

    int total(int... more) {
        for (int n : more) {
            add(n);
        }
        return counter;
    }

    private static String kindOf(int n) {
        return switch (n % 3) {
            case 0 -> first();
            case 1 -> "one";
            default -> first() + "two";
        };
    }

    private static int kindOf(String text) {
        return switch (text) {
            case "k1" -> first().length();
            default -> 0;
        };
    }

    private static String first() {
        return "first";
    }

    /** A member class that reads private members of the outer one. */
    class Member {
        int value() {
            return counter + total(1);
        }
    }
}
