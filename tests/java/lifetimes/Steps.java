import java.util.ArrayList;
import java.util.List;

/**
 * Objects whose lives are known by construction. Each line of the input is a step; the program answers
 * with the same line.
 */
public class Steps {
    private static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        System.out.flush();
        var input = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null && !line.equals("stop"); ) {
            step(line);
            System.out.println("done " + line);
            System.out.flush();
        }
    }

    private static void step(String name) throws Exception {
        switch (name) {
            case "used" -> used();
            case "kept" -> kept();
            case "drag" -> drag();
            case "forget" -> KEPT.clear();
            case "collect" -> System.gc();
            case "shapes" -> shapes();
            case "failing" -> failing();
            case "threads" -> threads();
            case "reflection" -> KEPT.add(Node.class.getDeclaredConstructor(int.class).newInstance(7));
            case "many" -> many();
            default -> throw new IllegalArgumentException(name);
        }
    }

    /** 64 objects with 16 uses each (8 calls, each with a read), and 8 objects that are never used. */
    private static void used() {
        for (int i = 0; i < 64; i++) {
            Node node = new Node(i);
            for (int n = 0; n < 8; n++) {
                node.number();
            }
        }
        for (int i = 0; i < 8; i++) {
            new Node(i);
        }
    }

    /** Four objects that stay alive, with one write each. */
    private static void kept() {
        for (int i = 0; i < 4; i++) {
            Node node = new Node(i);
            node.next = null;
            KEPT.add(node);
        }
    }

    /** An object that is used once, and then waits for 1,024 uses of another one. */
    private static void drag() {
        Node first = new Node(1);
        KEPT.add(first);
        first.next = null;
        Node second = new Node(2);
        for (int n = 0; n < 1024; n++) {
            second.next = null;
        }
    }

    /**
     * Three circles and two rings, whose superclass has a field and a method. A circle has three uses: one
     * call and two reads. A ring has four, because its method calls that of its superclass.
     */
    private static void shapes() {
        for (int i = 0; i < 3; i++) {
            Shape shape = new Circle(i);
            shape.area();
        }
        for (int i = 0; i < 2; i++) {
            Shape shape = new Ring(i);
            shape.area();
        }
    }

    /** Constructors that fail: none of the objects is born. */
    private static void failing() {
        for (int i = 0; i < 5; i++) {
            try {
                new Picky(i);
            } catch (IllegalArgumentException e) {
                // Only the object with the number 4 is born.
            }
        }
    }

    /** Four threads, each with 1,000 objects that are used twice. */
    private static void threads() throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(Steps::thousand);
            thread.start();
            all.add(thread);
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    private static void thousand() {
        for (int i = 0; i < 1000; i++) {
            new Node(i).number();
        }
    }

    /** More objects than are followed in a heap of 16 MiB. */
    private static void many() {
        Node list = null;
        for (int i = 0; i < 40_000; i++) {
            Node node = new Node(i);
            node.next = list;
            list = node;
        }
        KEPT.add(list);
    }
}
