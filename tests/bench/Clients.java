import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Clients of a service. Each client sends a request, waits for the answer, and repeats this on one
 * connection. Arguments: port, number of clients, and the pause between an answer and the next
 * request in microseconds. Each line of standard input ends a phase. For each phase, the program
 * prints the number of requests, the number of failed ones (no answer or a wrong one), and the
 * median, the 99th percentile and the maximum of the response time in microseconds.
 */
public final class Clients {
    private static final int KEPT = 1 << 22;
    private static volatile Phase phase = new Phase();

    static final class Phase {
        final long[] nanos = new long[KEPT];
        int count;
        int failed;

        synchronized void add(long time, boolean good) {
            if (count < KEPT) {
                nanos[count++] = time;
            }
            failed += good ? 0 : 1;
        }

        synchronized String end(String name) {
            long[] all = Arrays.copyOf(nanos, count);
            Arrays.sort(all);
            return "phase " + name + " requests " + count + " failed " + failed + " median " + at(all, 0.5) + " p99 " + at(all, 0.99)
                + " slowest " + at(all, 1);
        }

        private static long at(long[] all, double part) {
            return all.length == 0 ? 0 : all[(int) Math.min(all.length - 1, part * all.length)] / 1000;
        }
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        int clients = Integer.parseInt(args[1]);
        long pause = Long.parseLong(args[2]) * 1000;
        for (int i = 0; i < clients; i++) {
            int first = i * 100;
            Thread thread = new Thread(() -> ask(port, first, pause));
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Phase spare = new Phase();
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            Phase last = phase;
            phase = spare;
            System.out.println(last.end(line));
            spare = new Phase();
        }
    }

    private static void ask(int port, int first, long pause) {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setTcpNoDelay(true);
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            byte[] buffer = new byte[4096];
            for (int n = first;; n++) {
                int id = n % 1000;
                long begun = System.nanoTime();
                out.write(("GET /order?id=" + id + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                out.flush();
                String wanted = "order " + id + " total " + (50L * id + 20);
                int got = 0;
                boolean good = false;
                while (!good && got < buffer.length) {
                    int more = in.read(buffer, got, buffer.length - got);
                    if (more < 0) {
                        break;
                    }
                    got += more;
                    String answer = new String(buffer, 0, got, StandardCharsets.US_ASCII);
                    good = answer.startsWith("HTTP/1.1 200") && answer.endsWith(wanted);
                    if (!good && !answer.startsWith("HTTP/1.1 200")) {
                        break;
                    }
                }
                Phase now = phase;
                now.add(System.nanoTime() - begun, good);
                if (!good) {
                    System.out.println("bad answer to " + id + ": " + new String(buffer, 0, got, StandardCharsets.US_ASCII));
                    return;
                }
                if (pause > 0) {
                    java.util.concurrent.locks.LockSupport.parkNanos(pause);
                }
            }
        } catch (java.io.IOException e) {
            phase.add(0, false);
            System.out.println("no answer: " + e);
        }
    }
}
