package kinds;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Comparator;
import java.util.TreeMap;

/** Calls by the JDK: serialisation, comparators, hash and equals, finalizers of collections. */
public class Serialisation {
    static class Node implements Serializable, Comparable<Node> {
        private static final long serialVersionUID = 1;
        final int key;

        Node(int key) {
            this.key = key;
        }

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            note();
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            note();
        }

        private Object readResolve() {
            return new Node(key + 1);
        }

        void note() {
        }

        @Override
        public int compareTo(Node other) {
            return compare(key, other.key);
        }

        static int compare(int a, int b) {
            return Integer.compare(a, b);
        }

        @Override
        public int hashCode() {
            return key;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Node && ((Node) other).key == key;
        }
    }

    public static void main(String[] args) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            for (int i = 0; i < 6; i++) {
                out.writeObject(new Node(i));
            }
        }
        long sum = 0;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            for (int i = 0; i < 6; i++) {
                sum += ((Node) in.readObject()).key;
            }
        }
        Node[] nodes = new Node[20];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = new Node(i * 7 % 20);
        }
        Arrays.sort(nodes, Comparator.reverseOrder());
        TreeMap<Node, Integer> map = new TreeMap<>();
        for (Node node : nodes) {
            map.put(node, node.hashCode());
        }
        for (Node node : nodes) {
            sum += map.get(node) + (node.equals(nodes[3]) ? 1 : 0);
        }
        System.out.println(sum);
    }
}
