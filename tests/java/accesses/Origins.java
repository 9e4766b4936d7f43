import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Accesses objects whose allocation sites are known, and prints the number of accesses for each site: {@code
 * origin METHOD COUNT}. Objects are locked, wait, have identity hashes, are moved by collections, and are
 * accessed while another thread has locked them.
 *
 * <p>Arguments: the number of rounds; {@code collect} also lets the JVM collect garbage between them.
 */
public class Origins {
    static final class Node {
        int value;
        Node next;
    }

    private static int rounds;
    private static boolean collects;

    public static void main(String[] args) throws Exception {
        rounds = Integer.parseInt(args[0]);
        collects = args.length > 1;
        Node[] first = array(rounds);
        Node[] second = array(rounds);
        for (int i = 0; i < rounds; i++) {
            first[i] = plain();
            second[i] = hashed();
        }
        checkHashes(first, second);
        long sum = 0;
        for (int round = 0; round < 4; round++) {
            collect();
            sum += fields(first) + fields(second);
        }
        System.out.println("origin array " + (rounds * 2L + 8L * rounds + 2L * rounds));
        System.out.println("origin plain " + 4L * 2 * rounds);
        System.out.println("origin hashed " + 4L * 2 * rounds);
        sum += locked(rounds) + waiting() + numbers(rounds) + nested(rounds);
        sum += lockedByAnother();
        System.out.println("sum " + sum);
    }

    static Node[] array(int length) {
        return new Node[length];
    }

    static Node plain() {
        return new Node();
    }

    static Node hashed() {
        Node node = new Node();
        System.identityHashCode(node);
        return node;
    }

    static Node synchronised() {
        return new Node();
    }

    static Node waited() {
        return new Node();
    }

    static Node another() {
        return new Node();
    }

    static int[] ints(int length) {
        return new int[length];
    }

    static long[][] longs(int length) {
        return new long[length][2];
    }

    private static void collect() {
        if (collects) {
            System.gc();
        }
    }

    /** Two accesses to each node: the value is read and written. One to the array. */
    private static long fields(Node[] nodes) {
        long sum = 0;
        for (int i = 0; i < nodes.length; i++) {
            sum += ++nodes[i].value;
        }
        return sum;
    }

    /** Identity hashes stay as they are, and differ as much as those of the JVM. */
    private static void checkHashes(Node[]... all) {
        Map<Integer, Integer> seen = new IdentityHashMap<>();
        java.util.Set<Integer> different = new java.util.HashSet<>();
        int count = 0;
        for (Node[] nodes : all) {
            for (int i = 0; i < nodes.length; i++) {
                Node node = nodes[i];
                int hash = System.identityHashCode(node);
                synchronized (node) {
                    if (hash != System.identityHashCode(node) || hash == 0) {
                        throw new IllegalStateException("a hash has changed");
                    }
                }
                different.add(hash);
                count++;
            }
        }
        // Of 2³¹ hashes, two of a thousand objects are equal with a probability of 2⁻¹¹.
        if (different.size() < count - 3) {
            throw new IllegalStateException(different.size() + " hashes of " + count + " objects");
        }
    }

    /** Two accesses in each round while this thread has locked the node, once and twice. */
    private static long locked(int count) {
        Node node = synchronised();
        for (int i = 0; i < count; i++) {
            synchronized (node) {
                node.value++;
                synchronized (node) {
                    node.value++;
                }
            }
        }
        System.out.println("origin synchronised " + (4L * count + 1));
        return node.value;
    }

    /** A node with a monitor. */
    private static long waiting() throws InterruptedException {
        Node node = waited();
        synchronized (node) {
            node.value++;
            node.wait(1);
            collect();
            node.value++;
        }
        System.out.println("origin waited 4");
        return 1;
    }

    private static long numbers(int count) {
        int[] ints = ints(16);
        for (int i = 0; i < count; i++) {
            ints[i & 15] = i;
        }
        System.out.println("origin ints " + (count + 1));
        return ints[3] > 0 ? 1 : 0;
    }

    private static long nested(int count) {
        long[][] longs = longs(4);
        for (int i = 0; i < count; i++) {
            longs[i & 3][1] = i;
        }
        System.out.println("origin longs " + 2L * count);
        return 1;
    }

    /** Two accesses to a node that another thread has locked, whose origin may be unknown, and one later. */
    private static long lockedByAnother() throws InterruptedException {
        Node node = another();
        Object ready = new Object();
        boolean[] isLocked = new boolean[1];
        Thread thread = new Thread(() -> hold(node, ready, isLocked));
        synchronized (ready) {
            thread.start();
            while (!isLocked[0]) {
                ready.wait();
            }
        }
        node.value++;
        thread.interrupt();
        thread.join();
        System.out.println("origin another 3");
        return node.value == 1 ? 0 : 1;
    }

    private static void hold(Node node, Object ready, boolean[] isLocked) {
        synchronized (node) {
            synchronized (ready) {
                isLocked[0] = true;
                ready.notifyAll();
            }
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                // The other thread has accessed the node.
            }
        }
    }
}
