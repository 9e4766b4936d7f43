package shop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The shop with a database and with requests that are timed, for docs/howto/ten-questions.md. It has the faults of
 * {@link Shop}, and three more. It needs H2 or another JDBC driver; its argument is the URL of the database.
 *
 * <p>Three worker threads serve requests. Each line on standard input ends an interval and prints the requests per second, the
 * median and the 99th percentile of the request times in it. The program ends with standard input.
 */
public final class Service {
    private final Desk desk = new Desk(new Prices());
    private final String url;
    private final Intervals intervals = new Intervals();
    private volatile boolean open = true;

    private Service(String url) {
        this.url = url;
    }

    /** The main loop of one worker thread. */
    void work(int first) {
        try (Connection connection = DriverManager.getConnection(url)) {
            Stock stock = new Stock(connection);
            for (int number = first; open; number += 3) {
                long began = System.nanoTime();
                request(new Order(number), stock);
                intervals.add((System.nanoTime() - began) / 1000);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    String request(Order order, Stock stock) throws SQLException {
        long total = desk.serve(order);
        int left = stock.left(order);
        return Receipt.write(order, total, left);
    }

    public static void main(String[] args) throws IOException, SQLException, InterruptedException {
        Service service = new Service(args[0]);
        try (Connection connection = DriverManager.getConnection(service.url)) {
            Stock.fill(connection);
            List<Thread> workers = new ArrayList<>();
            for (int worker = 0; worker < 3; worker++) {
                int first = worker;
                workers.add(new Thread(() -> service.work(first), "worker-" + worker));
            }
            workers.forEach(Thread::start);
            System.out.println("pid " + ProcessHandle.current().pid());
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                System.out.println("interval " + line + " " + service.intervals.next());
            }
            service.open = false;
            for (Thread worker : workers) {
                worker.join();
            }
        }
    }
}

/** The stock in the database. */
final class Stock {
    private static final int ITEMS = 500;
    private final Connection connection;

    Stock(Connection connection) {
        this.connection = connection;
    }

    /** Fault 4: one query for each item of an order, up to 200, and the table has no index. */
    int left(Order order) throws SQLException {
        int left = 0;
        try (PreparedStatement query = connection.prepareStatement("SELECT amount FROM stock WHERE item = ?")) {
            for (int i = 0; i < Math.min(order.items.length, 200); i++) {
                query.setInt(1, order.items[i] % ITEMS);
                try (ResultSet row = query.executeQuery()) {
                    left += row.next() ? row.getInt(1) : 0;
                }
            }
        }
        return left;
    }

    static void fill(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE stock(item INT, amount INT)");
            statement.execute("INSERT INTO stock SELECT x - 1, x FROM system_range(1, " + ITEMS + ")");
        }
    }
}

/** The text that a customer gets. */
final class Receipt {
    private Receipt() {}

    /** Fault 6: each call makes a buffer of 64 KiB for a short text. */
    static String write(Order order, long total, int left) {
        char[] buffer = new char[32 * 1024];
        String text = order.number + ": " + total + ", voucher " + voucher(order) + ", left " + left;
        text.getChars(0, text.length(), buffer, 0);
        return new String(buffer, 0, text.length());
    }

    /** Fault 5: an exception for each order without a voucher, and no trace of it. */
    static int voucher(Order order) {
        try {
            return Integer.parseInt(order.number % 5 == 0 ? String.valueOf(order.number) : "none");
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}

/** The times of the requests since the last question for them. */
final class Intervals {
    private long[] micros = new long[1024];
    private int size;
    private long began = System.nanoTime();

    synchronized void add(long time) {
        if (size == micros.length) {
            micros = Arrays.copyOf(micros, 2 * size);
        }
        micros[size++] = time;
    }

    /** Ends an interval: requests, requests per second, median and 99th percentile in microseconds. */
    synchronized String next() {
        long now = System.nanoTime();
        Arrays.sort(micros, 0, size);
        String text = String.format(
                java.util.Locale.ROOT,
                "requests=%d per_second=%.1f median_us=%d p99_us=%d",
                size,
                size / ((now - began) / 1e9),
                size == 0 ? 0 : micros[size / 2],
                size == 0 ? 0 : micros[Math.min(size - 1, size * 99 / 100)]);
        size = 0;
        began = now;
        return text;
    }
}
