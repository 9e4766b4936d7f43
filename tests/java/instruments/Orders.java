import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Known values of every type: {@code handle} runs 1,000 times, with an order and its number. */
public class Orders {
    static class User {
        final String name;
        private final User boss;

        User(String name, User boss) {
            this.name = name;
            this.boss = boss;
        }
    }

    static class Numbered {
        private long number;
    }

    static class Order extends Numbered {
        User user;
        long total;
        double weight;
        boolean express;
        int[] parts;
        String[] tags;
        char grade;
        byte small;
        short middle;
        float rate;
        Object match;
    }

    /** A class that is never loaded. */
    static class Ghost {
        int seen;
    }

    static Ghost ghost;

    static long handle(Order order, int round) {
        long cost = order.total * 2;
        for (int part : order.parts) {
            cost += part; // line 45
        }
        return cost;
    }

    final String place = "desk";

    int serve(int thread) {
        return thread + 1;
    }

    static int haunted(Ghost one) {
        return one == null ? 1 : 2;
    }

    /** The last node refers to itself. */
    static class Node {
        Node next;
    }

    static final String[] LONG = {"x".repeat(2_000_000), "x".repeat(2_000_000) + "y"};
    static final Node RING = new Node();
    static final int[] MANY = new int[5000];

    /** Values that are difficult for probes: long strings, NaN, cyclic lists, long arrays. */
    static int odd(String text, double x, float y, Node node, int[] many, int n) {
        return n + many.length;
    }

    /** Without arguments, one run. Otherwise one run for each line {@code run}. */
    public static void main(String[] args) throws IOException {
        if (args.length == 0) {
            System.out.println("sum " + all());
            return;
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            System.out.println("sum " + all());
        }
    }

    static long all() {
        User ann = new User("ann", null);
        User[] users = {ann, new User("bob", ann), null};
        Orders desk = new Orders();
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            Order order = new Order();
            order.user = users[i % 3];
            order.total = i;
            ((Numbered) order).number = 10L * i;
            order.weight = i / 4.0;
            order.express = i % 2 == 0;
            order.parts = new int[i % 5];
            for (int k = 0; k < order.parts.length; k++) {
                order.parts[k] = k;
            }
            order.tags = i % 10 == 0 ? null : new String[] {"t" + i % 2, "x"};
            order.grade = (char) ('a' + i % 2);
            order.small = (byte) (i % 7 - 3);
            order.middle = (short) i;
            order.rate = i % 2 == 0 ? 0.5f : 1.5f;
            order.match = i % 4 == 0 ? "four" : null;
            sum += handle(order, i) + desk.serve(i) + haunted(ghost);
        }
        RING.next = new Node();
        RING.next.next = RING;
        for (int n = 0; n < 3000; n++) {
            double x = n % 3 == 0 ? Double.NaN : n + 0.5;
            sum += odd(LONG[n % 2], x, Float.POSITIVE_INFINITY, RING, MANY, n);
        }
        return sum;
    }
}
