//! Records: the methods that the compiler writes (all on the line of the header), a compact constructor,
//! an own accessor, a nested generic record, records as map keys.

import java.util.HashMap;
import java.util.Map;

public class Records {
    record Point(int x, int y) {} // blocks 3 1 2 1 1 1

    record Range(int low, int high) { // blocks 4 6 0 0 0
        Range { // blocks 8 8
            if (low > high) {
                int swap = low; // blocks 4
                low = high;
                high = swap;
            }
        }

        Range(int high) { // entries 1; exits 1; timer 1
            this(0, high); // blocks 1
        }

        int length() { // entries 2; exits 2
            int n = 0; // blocks 2
            for (int i = low; i < high; i++) { // blocks 10
                n++; // blocks 8
            }
            return n; // blocks 2
        }
    }

    record Pair<A, B>(A first, B second) { // blocks 2 0 0 1 0
        public A first() { // entries 1; exits 1
            return first; // blocks 1
        }

        static <T> Pair<T, T> twice(T value) { // entries 1; exits 1
            return new Pair<>(value, value); // blocks 1
        }
    }

    static int points() { // entries 1; exits 1
        Point a = new Point(3, 4); // blocks 1
        Point b = new Point(3, 4);
        int s = a.x() + b.y();
        if (a.equals(b)) {
            s += 100; // blocks 1
        }
        if (a.hashCode() == b.hashCode()) { // blocks 1
            s += 1000; // blocks 1
        }
        return s; // blocks 1
    }

    static int keys() { // entries 1; exits 1
        Map<Range, Integer> map = new HashMap<>(); // blocks 1
        for (int i = 0; i < 6; i++) { // blocks 7
            map.merge(new Range(i % 2, 0), 1, Integer::sum); // blocks 6
        }
        return map.size(); // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = points(); // blocks 1
        int b = keys();
        int c = new Range(7, 2).length() + new Range(3).length();
        String d = Pair.twice("t").first() + new Pair<>(1, 2.5).second();
        System.out.println(a + " " + b + " " + c + " " + d + " " + new Point(8, 9));
    }
}
