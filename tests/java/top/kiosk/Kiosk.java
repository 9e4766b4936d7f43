package kiosk;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/**
 * Commands on standard input, one per line: `run` handles 1,000 customers; `go` handles them repeatedly in another
 * thread, and `rest` ends that; `stop`, or the end of the input, ends the program. Each line is answered.
 */
public final class Kiosk {
    static final int ITEMS = 100;
    static volatile boolean going;

    private Kiosk() {}

    static int price(int item) {
        return item * 3 + 1;
    }

    /** Each customer wants 90 of 100 items. */
    static long serve(int customer) {
        long sum = 0;
        for (int item = 0; item < ITEMS; item++) {
            if (item % 10 == customer % 10) {
                continue;
            }
            sum += price(item);
        }
        return sum;
    }

    static long day(int customers) {
        long sum = 0;
        for (int customer = 0; customer < customers; customer++) {
            sum += serve(customer);
        }
        return sum;
    }

    static void days() {
        try {
            while (going) {
                day(20);
                Thread.sleep(2);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Thread open = null;
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            switch (line) {
                case "run" -> System.out.println("sum " + day(1000));
                case "go" -> {
                    going = true;
                    open = new Thread(Kiosk::days);
                    open.start();
                    System.out.println("going");
                }
                case "rest" -> {
                    going = false;
                    open.join();
                    System.out.println("resting");
                }
                default -> System.out.println("what?");
            }
        }
        going = false;
    }
}
