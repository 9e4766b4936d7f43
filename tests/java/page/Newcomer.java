import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A service for the tasks of a newcomer: two workers price orders in a loop, and two clerks wait for a lock that
 * one of them holds while it sleeps. Runs until standard input has `stop` or ends.
 */
public class Newcomer {
    static volatile boolean stopped;
    static volatile long sink;
    static long booked;

    /** An order, with the name of its customer. */
    static final class Order {
        final String customer;
        final int items;

        Order(int number) {
            this.customer = number % 2 == 0 ? "ann" : "eve";
            this.items = 10_000_000;
        }
    }

    /** The hot method. */
    static long price(Order order) {
        long sum = order.customer.length();
        for (int i = 0; i < order.items; i++) {
            sum = sum * 31 + i % 7;
        }
        return sum;
    }

    /** The slow lock. */
    static synchronized void book(long amount) {
        booked += amount;
        try {
            Thread.sleep(3);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void serve(Order order) {
        sink = price(order);
    }

    static void keepBooks() {
        while (!stopped) {
            book(1);
        }
    }

    static void work() {
        for (int number = 0; !stopped; number++) {
            serve(new Order(number));
        }
    }

    public static void main(String[] args) throws Exception {
        for (int worker = 0; worker < 2; worker++) {
            Thread thread = new Thread(Newcomer::work, "worker-" + worker);
            thread.setDaemon(true);
            thread.start();
        }
        for (int clerk = 0; clerk < 2; clerk++) {
            Thread thread = new Thread(Newcomer::keepBooks, "clerk-" + clerk);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line = in.readLine();
        while (line != null && !line.equals("stop")) {
            line = in.readLine();
        }
        stopped = true;
    }
}
