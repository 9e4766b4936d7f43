import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;

/** A desk that handles 300 customers. The comments state the results of the shipped plans. */
public class Desk {
    private final Map<Integer, String> names = new HashMap<>();
    private final List<List<Integer>> queues = new ArrayList<>();
    private int served;

    Desk() {
        for (int i = 0; i < 300; i += 3) {
            names.put(i, "customer " + i % 2);
        }
        queues.add(new ArrayList<>());
        queues.add(new LinkedList<>());
    }

    String find(int customer) {
        return names.get(customer); // nulls: 200 null, 100 not
    }

    void wait(int customer) {
        List<Integer> queue = queues.get(customer % 3 == 0 ? 0 : 1);
        queue.add(customer); // receivers: 100 ArrayList, 200 LinkedList
    }

    void serve(int customer) {
        String name = find(customer);
        int fee = customer % 4; // values: `fee` is 0 to 3, 75 times each
        synchronized (this) { // locks: 300
            served += fee;
        }
        if (name == null && customer % 50 == 1) {
            throw new IllegalArgumentException("nobody"); // exceptions: 4
        }
        int[] receipt = new int[fee]; // allocations: 296
        served += receipt.length;
    }

    public static void main(String[] args) {
        Desk desk = new Desk();
        int failed = 0;
        for (int customer = 0; customer < 300; customer++) {
            desk.wait(customer);
            try {
                desk.serve(customer);
            } catch (IllegalArgumentException e) {
                failed++;
            }
        }
        System.out.println("served " + desk.served + ", failed " + failed);
    }

    /** Never called, so the coverage plan reports it. */
    static int idle(int n) {
        return n == 0 ? 1 : 2;
    }
}
