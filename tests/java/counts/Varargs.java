//! Methods with a variable number of arguments: of int, of objects, none, null, an array passed on.

public class Varargs {
    static int sum(int... numbers) { // entries 4; exits 4; timer 4
        int s = 0; // blocks 4
        for (int n : numbers) { // blocks 10 6
            s += n;
        }
        return s; // blocks 4
    }

    static String join(String separator, Object... parts) { // entries 4; exits 4
        if (parts == null) { // blocks 4
            return "null"; // blocks 1
        }
        StringBuilder s = new StringBuilder(); // blocks 3
        for (int i = 0; i < parts.length; i++) { // blocks 8
            if (i > 0) { // blocks 5
                s.append(separator); // blocks 3
            }
            s.append(parts[i]); // blocks 5
        }
        return s.toString(); // blocks 3
    }

    static long pass(long first, long... rest) { // entries 4; exits 4; timer 4
        if (rest.length == 0) { // blocks 4
            return first; // blocks 1
        }
        long[] shorter = new long[rest.length - 1]; // blocks 3
        System.arraycopy(rest, 1, shorter, 0, shorter.length);
        return first * 2 + pass(rest[0], shorter);
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = sum() + sum(1) + sum(1, 2, 3) + sum(new int[] {4, 5}); // blocks 1
        String b = join("-", 1, 'c', 2.5, null) + join("+") + join("*", (Object[]) null) + join("/", "x");
        long c = pass(1, 2, 3, 4);
        System.out.println(a + " " + b + " " + c);
    }
}
