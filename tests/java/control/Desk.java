import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Commands on standard input: `run N` handles N orders and prints their sum, `stop` ends the program. A second thread
 * runs one loop activation; at the end it prints two counts of its iterations, so that a lost one shows.
 */
public class Desk {
    static volatile boolean stopped;

    static class Order {
        final int number;
        final String customer;

        Order(int number) {
            this.number = number;
            this.customer = number % 3 == 0 ? null : "c" + number % 3;
        }
    }

    static long serve(Order order) {
        long cost = 0;
        for (int i = 0; i < 3; i++) {
            cost += order.number;
        }
        return cost;
    }

    static String round() {
        long turns = 0;
        long twice = 0;
        while (!stopped) {
            turns++;
            twice += 2;
        }
        return "turns " + turns + " twice " + twice;
    }

    public static void main(String[] args) throws Exception {
        String[] said = new String[1];
        Thread rounds = new Thread(() -> said[0] = round(), "rounds");
        rounds.start();
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            long sum = 0;
            int count = Integer.parseInt(line.substring("run ".length()));
            for (int i = 0; i < count; i++) {
                sum += serve(new Order(i));
            }
            System.out.println("sum " + sum);
        }
        stopped = true;
        rounds.join();
        System.out.println(said[0]);
    }
}
