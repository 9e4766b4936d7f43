//! Generics: bridge methods (whose code has the line of the class), covariant returns, bounded
//! types with intersection casts.

import java.util.Comparator;

public class Generics {
    abstract static class Shape<T extends Number> { // blocks 2
        abstract T measure(T scale);

        Shape<T> self() { // entries 0; exits 0
            return this; // blocks 0
        }
    }

    static class Round extends Shape<Integer> { // blocks 2 2 1
        @Override
        Integer measure(Integer scale) { // entries 3; exits 3
            return scale * 3; // blocks 3
        }

        @Override
        Round self() { // entries 2; exits 2
            return this; // blocks 2
        }
    }

    static class ByLength implements Comparator<String> { // blocks 1 4
        @Override
        public int compare(String a, String b) { // entries 4; exits 4; timer 4
            return a.length() - b.length(); // blocks 4
        }
    }

    static <T extends Number & Comparable<T>> T larger(T a, T b) { // entries 2; exits 2; timer 2
        return a.compareTo(b) > 0 ? a : b; // blocks 2 1 1 2
    }

    static <T> T best(Comparator<? super T> order, T[] values) { // entries 1; exits 1
        T best = values[0]; // blocks 1
        for (int i = 1; i < values.length; i++) { // blocks 5 4
            if (order.compare(values[i], best) > 0) { // blocks 4
                best = values[i]; // blocks 1
            }
        }
        return best; // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1
        Shape<Integer> shape = new Round(); // blocks 1
        int a = shape.measure(5) + shape.self().measure(6) + new Round().self().measure(7);
        String b = best(new ByLength(), new String[] {"aa", "b", "dddd", "ccc", "eeee"});
        int c = larger(3, 8) + larger(9, 2);
        System.out.println(a + " " + b + " " + c);
    }
}
