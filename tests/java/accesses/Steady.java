/**
 * Repeats the same accesses in each round: along rows and columns of a matrix, along a shuffled list, and to
 * the fields of one object. So the misses per access are the same in a long and in a short run.
 */
public class Steady {
    private static final int ROWS = 400;
    private static final int NODES = 12_000;

    private static final class Node {
        Node next;
        int value;
    }

    private final int[][] matrix = new int[ROWS][ROWS];
    private final Node first;
    private long sum;

    private Steady() {
        Node[] nodes = new Node[NODES];
        for (int i = 0; i < NODES; i++) {
            nodes[i] = new Node();
            nodes[i].value = i;
        }
        long state = 1;
        for (int i = NODES - 1; i > 0; i--) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int other = (int) ((state >>> 33) % (i + 1));
            Node moved = nodes[i];
            nodes[i] = nodes[other];
            nodes[other] = moved;
        }
        for (int i = 0; i + 1 < NODES; i++) {
            nodes[i].next = nodes[i + 1];
        }
        first = nodes[0];
    }

    public static void main(String[] args) {
        Steady program = new Steady();
        for (int round = 0; round < Integer.parseInt(args[0]); round++) {
            program.sum += program.rows() + program.columns() + program.list();
            program.fields();
        }
        System.out.println(program.sum);
    }

    private long rows() {
        long total = 0;
        for (int row = 0; row < ROWS; row++) {
            for (int column = 0; column < ROWS; column++) {
                total += matrix[row][column]++;
            }
        }
        return total;
    }

    private long columns() {
        long total = 0;
        for (int column = 0; column < ROWS; column++) {
            for (int row = 0; row < ROWS; row++) {
                total += matrix[row][column];
            }
        }
        return total;
    }

    private long list() {
        long total = 0;
        for (Node node = first; node != null; node = node.next) {
            total += node.value;
        }
        return total;
    }

    private void fields() {
        for (int i = 0; i < 50_000; i++) {
            sum += i;
        }
    }
}
