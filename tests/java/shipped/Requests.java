import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A server of the JDK and its client. The comments state the HTTP plan's results for one `run`. */
public class Requests {
    private static String base;

    private static void answer(HttpExchange exchange, int status) throws IOException {
        byte[] text = exchange.getRequestURI().toString().getBytes();
        exchange.sendResponseHeaders(status, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }

    private static int ask(String path) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) URI.create(base + path).toURL().openConnection();
        connection.setRequestProperty("Connection", "close");
        try {
            int status = connection.getResponseCode();
            InputStream stream = status >= 400 ? connection.getErrorStream() : connection.getInputStream();
            return status + (stream == null ? 0 : stream.readAllBytes().length);
        } catch (IOException e) {
            return 1; // no answer
        }
    }

    static int run() throws IOException {
        int sum = 0;
        for (int i = 0; i < 20; i++) {
            sum += ask("/orders"); // 20 /orders 200
        }
        for (int i = 0; i < 7; i++) {
            sum += ask("/orders/" + i % 2 + "?all=" + i); // 4 /orders/0 200, 3 /orders/1 200
        }
        for (int i = 0; i < 3; i++) {
            sum += ask("/nothing"); // 3 /nothing 404
        }
        sum += ask("/none"); // none: it has no handler
        return sum;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        ExecutorService threads = Executors.newFixedThreadPool(3);
        server.setExecutor(threads);
        server.createContext("/orders", exchange -> answer(exchange, 200));
        server.createContext("/nothing", exchange -> answer(exchange, 404));
        server.createContext(
                "/fails",
                exchange -> {
                    throw new IllegalStateException("on purpose");
                });
        server.start();
        base = "http://127.0.0.1:" + server.getAddress().getPort();
        if (args.length > 0) {
            System.out.println("sum " + run());
            System.out.println("fails " + ask("/fails")); // each attempt: /fails exception
        } else {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
                System.out.println("sum " + run());
            }
        }
        server.stop(0);
        threads.shutdown();
        threads.awaitTermination(10, TimeUnit.SECONDS);
    }
}
