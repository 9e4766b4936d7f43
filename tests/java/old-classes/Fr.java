/** A loop, whose header has a stack-map frame with the classes of its variables. Prints 6. */
public class Fr {
    static int f(String s, int k) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < k; i++) {
            b.append(s);
        }
        return b.length();
    }

    public static void main(String[] a) {
        System.out.println(f("ab", 3));
    }
}
