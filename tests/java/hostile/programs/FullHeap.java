import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * `FullHeap ROUNDS`: fills the heap in six ways, catches each `OutOfMemoryError` at the expected
 * place, and continues with the remaining memory. The lines of output do not depend on the size of
 * the heap.
 */
public class FullHeap {
    static final class Node {
        final Node next;
        final long[] filler = new long[512];

        Node(Node next) {
            this.next = next;
        }
    }

    static List<Object> hold;

    static long arrays() {
        hold = new ArrayList<>();
        while (true) {
            hold.add(new byte[1 << 18]);
        }
    }

    static long nodes() {
        Node first = null;
        for (long i = 0; ; i++) {
            first = new Node(first);
            if (i < 0) {
                return i;
            }
        }
    }

    static long strings() {
        StringBuilder text = new StringBuilder("0123456789abcdef");
        while (true) {
            text.append(text);
        }
    }

    static long entries() {
        Map<Integer, long[]> map = new HashMap<>();
        for (int i = 0; ; i++) {
            map.put(i, new long[1024]);
        }
    }

    /**
     * The error passes a `finally` and a frame whose objects the JIT may have replaced by scalars.
     */
    static long passed(int depth) {
        int[] pair = {depth, depth + 1};
        try {
            return depth == 0 ? arrays() : passed(depth - 1) + pair[0];
        } finally {
            pair[1]++;
            left += pair[1] - pair[0];
        }
    }

    static long left;

    static long tooLarge() {
        return new long[Integer.MAX_VALUE - 8].length;
    }

    static long attempt(int kind) {
        try {
            return switch (kind) {
                case 0 -> arrays();
                case 1 -> nodes();
                case 2 -> strings();
                case 3 -> entries();
                case 4 -> passed(10);
                default -> tooLarge();
            };
        } catch (OutOfMemoryError e) {
            hold = null;
            return -1;
        }
    }

    /** Allocates objects that escape analysis removes, in a loop that is entered by OSR. */
    static long work(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            int[] box = {i, i * 3};
            Node none = i < 0 ? new Node(null) : null;
            sum += box[0] + box[1] + (none == null ? 1 : 0);
        }
        return sum;
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int round = 0; round < rounds; round++) {
            for (int kind = 0; kind < 6; kind++) {
                System.out.println(round + " " + kind + " " + attempt(kind) + " " + work(300_000));
            }
        }
        System.out.println("left " + left);
    }
}
