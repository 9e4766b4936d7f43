import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A web server and its client in one process, with executors, futures, streams and exceptions. */
public class Served {
    static String answer(String path) {
        if (path.endsWith("7")) {
            throw new IllegalArgumentException(path);
        }
        Map<Character, Long> counts = path.chars().mapToObj(c -> (char) c)
                .collect(Collectors.groupingBy(c -> c, TreeMap::new, Collectors.counting()));
        return counts.toString();
    }

    static int weigh(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += switch (i % 4) {
                case 0 -> i;
                case 1 -> -i;
                default -> 2;
            };
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        server.setExecutor(pool);
        server.createContext("/", exchange -> {
            int code = 200;
            String text;
            try {
                text = answer(exchange.getRequestURI().getPath());
            } catch (IllegalArgumentException e) {
                code = 404;
                text = "none of " + e.getMessage();
            }
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(code, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        HttpClient client = HttpClient.newHttpClient();
        long sum = 0;
        for (int i = 0; i < 25; i++) {
            URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/page" + i);
            HttpResponse<String> response = client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
            sum = sum * 31 + response.statusCode() + response.body().hashCode();
        }
        List<Future<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int n = i;
            futures.add(pool.submit(() -> weigh(n * 20)));
        }
        for (Future<Integer> future : futures) {
            sum += future.get();
        }
        sum += CompletableFuture.supplyAsync(() -> weigh(1000), pool).thenApply(n -> n * 2).get();
        sum += IntStream.range(0, 1000).map(Served::weigh).sum();
        System.out.println("sum " + sum);
        server.stop(0);
        pool.shutdown();
    }
}
