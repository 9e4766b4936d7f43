/**
 * `Depth ROUNDS`: prints how deep a recursion gets before the stack overflows. There is one line
 * for each cold round, and, after the JIT has compiled the methods, one line for each warm round.
 * At the end there is a recursion of 5,000 levels.
 */
public class Depth {
    static int deepest;
    static int limit = Integer.MAX_VALUE;

    static void endless(int depth) {
        deepest = depth;
        if (depth < limit) {
            endless(depth + 1);
        }
    }

    static int deep(int levels) {
        return levels == 0 ? 0 : 1 + deep(levels - 1);
    }

    static void round(String name) {
        deepest = 0;
        try {
            endless(0);
        } catch (StackOverflowError e) {
            System.out.println(name + " " + deepest);
        }
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < rounds; i++) {
            round("cold");
        }
        for (int i = 0; i < 20_000; i++) {
            deep(50);
            limit = 50;
            endless(0);
        }
        limit = Integer.MAX_VALUE;
        for (int i = 0; i < rounds; i++) {
            round("warm");
        }
        System.out.println("levels " + deep(5000));
    }
}
