package remote;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A remote call as in the CORBA example of the paper on JPMT: requests arrive at random, wait in a queue, and one servant
 * answers them, each after a wait. Argument: the number of requests. Prints the mean time from the request to the reply.
 */
public class RemoteCall {
    /** The mean time between two requests and the time of the servant, in milliseconds. */
    static final int BETWEEN = 35, SERVANT = 20;

    public static void main(String[] args) throws Exception {
        int requests = Integer.parseInt(args[0]);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService servant = Executors.newFixedThreadPool(1, task -> new Thread(task, "servant"));
        server.setExecutor(servant);
        server.createContext("/ping", RemoteCall::pingWithWait);
        server.start();
        HttpRequest ping = HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/ping")).build();
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        Random random = new Random(1);
        CountDownLatch open = new CountDownLatch(requests);
        AtomicLong total = new AtomicLong();
        for (int n = 0; n < requests; n++) {
            long begin = System.nanoTime();
            client.sendAsync(ping, HttpResponse.BodyHandlers.ofString()).thenAccept(reply -> {
                if (reply.body().equals("pong")) {
                    total.addAndGet(System.nanoTime() - begin);
                    open.countDown();
                }
            });
            Thread.sleep((long) (-Math.log(1 - random.nextDouble()) * BETWEEN));
        }
        open.await();
        System.out.println("mean of " + requests + " requests: " + total.get() / requests / 1000 + " us");
        System.exit(0);
    }

    static void pingWithWait(HttpExchange exchange) throws IOException {
        try {
            Thread.sleep(SERVANT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        byte[] reply = "pong".getBytes();
        exchange.sendResponseHeaders(200, reply.length);
        exchange.getResponseBody().write(reply);
        exchange.close();
    }
}
