import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.concurrent.SynchronousQueue;

/**
 * One thread, a virtual one where the JDK has them, adds the numbers that it gets, and waits between
 * them. Zero ends the method; the thread prints the sum and calls the method again.
 */
public class Waiting {
    static final SynchronousQueue<Integer> orders = new SynchronousQueue<>();

    static int rounds() throws InterruptedException {
        int sum = 0;
        for (;;) {
            int order = orders.take();
            if (order == 0) {
                return sum;
            }
            for (int i = 0; i < 1000; i++) {
                sum += order;
            }
        }
    }

    static void forever() {
        try {
            for (;;) {
                System.out.println("sum " + rounds());
            }
        } catch (InterruptedException e) {
            System.out.println("interrupted");
        }
    }

    static void start(Runnable body) throws Exception {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            start.invoke(null, body);
        } catch (NoSuchMethodException e) {
            Thread thread = new Thread(body);
            thread.setDaemon(true);
            thread.start();
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        start(Waiting::forever);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); !"stop".equals(line); line = in.readLine()) {
            int order = Integer.parseInt(line);
            orders.put(order);
            if (order != 0) {
                System.out.println("taken");
            }
        }
    }
}
