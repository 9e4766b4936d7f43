//! `instanceof` with a pattern variable: in conditions, with &&, negated, in a loop.

public class InstanceOfPattern {
    static int size(Object o) { // entries 8; exits 8; timer 8
        if (o instanceof String s && s.length() > 1) { // blocks 8 3
            return s.length(); // blocks 2
        } else if (o instanceof Integer i) { // blocks 6 2
            return i;
        }
        if (!(o instanceof long[] longs)) { // blocks 4 1
            return -1; // blocks 3
        }
        return longs.length; // blocks 1
    }

    static int total(Object... objects) { // entries 1; exits 1
        int t = 0; // blocks 1
        for (Object o : objects) { // blocks 9 8
            t = t * 2 + size(o);
        }
        return t; // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = total("abc", "x", 7, null, new long[4], 2.5, "de", 9); // blocks 1
        System.out.println(a);
    }
}
