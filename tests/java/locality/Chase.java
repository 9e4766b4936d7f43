/**
 * Sums one million values. The slow variant follows a linked list whose nodes are in a random order in memory, so most
 * nodes are in a cache line that the cache does not have. The fast variant reads an array of the values.
 */
public final class Chase {
    private static final int COUNT = 1_000_000;

    private Chase() {}

    static final class Node {
        final long value;
        Node next;

        Node(long value) {
            this.value = value;
        }
    }

    public static void main(String[] args) {
        boolean isSlow = Rounds.isSlow(args);
        Node first = isSlow ? makeList() : null;
        long[] values = isSlow ? null : makeValues();
        Rounds rounds = Rounds.begin(args);
        long checksum = 0;
        while (rounds.next()) {
            long sum = isSlow ? sumList(first) : sumArray(values);
            checksum = checksum * 31 + sum + rounds.number();
        }
        rounds.end(checksum);
    }

    private static long value(int number) {
        return number * 0x9E3779B97F4A7C15L;
    }

    private static Node makeList() {
        Node[] nodes = new Node[COUNT];
        for (int i = 0; i < COUNT; i++) {
            nodes[i] = new Node(value(i));
        }
        // A collector of young objects copies the nodes of a list in the order of the list. A full collection moves
        // them to the old generation before the list exists.
        System.gc();
        Node first = null;
        for (int number : Rounds.shuffled(COUNT)) {
            Node node = nodes[number];
            node.next = first;
            first = node;
        }
        return first;
    }

    private static long[] makeValues() {
        long[] values = new long[COUNT];
        int i = COUNT;
        for (int number : Rounds.shuffled(COUNT)) {
            values[--i] = value(number);
        }
        return values;
    }

    static long sumList(Node first) {
        long sum = 0;
        Node node = first;
        while (node != null) {
            sum = sum * 3 + node.value; // FAULT chase
            node = node.next; // ALSO chase
        }
        return sum;
    }

    static long sumArray(long[] values) {
        long sum = 0;
        for (int i = 0; i < values.length; i++) {
            sum = sum * 3 + values[i]; // MENDED chase
        }
        return sum;
    }
}
