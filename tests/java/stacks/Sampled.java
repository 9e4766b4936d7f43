import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * Flight Recorder samples a thread that spends its time in {@code busy}. Each line of output names a method and class
 * with samples, and their number. A sample belongs to {@code busy} if its topmost frame of the program is a body of
 * that method: its own, or one with its name and a suffix in a class with the name of its class and a suffix.
 */
public class Sampled {
    static volatile long sink;
    static volatile boolean done;

    static long busy(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            if ((i & 7) == 3) {
                sum += i * 31L;
            } else {
                sum ^= sum << 1;
            }
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(() -> {
            while (!done) {
                sink += busy(200_000);
            }
        }, "worker");
        worker.start();
        Path file = Files.createTempFile("sampled", ".jfr");
        TreeMap<String, Integer> tops = new TreeMap<>();
        int other = 0;
        String unnamed = "";
        int below = 0;
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
            recording.start();
            int found = 0;
            // Enough samples, whatever the speed of the machine.
            while (found < 20) {
                Thread.sleep(500);
                recording.dump(file);
                tops.clear();
                found = other = below = 0;
                for (var event : RecordingFile.readAllEvents(file)) {
                    if (event.getStackTrace() == null || !"worker".equals(event.getThread("sampledThread").getJavaName())) {
                        continue;
                    }
                    List<RecordedFrame> frames = event.getStackTrace().getFrames();
                    int at = 0;
                    while (at < frames.size() && !frames.get(at).getMethod().getType().getName().startsWith("Sampled")) {
                        at++;
                    }
                    if (at == frames.size()) {
                        continue;
                    }
                    RecordedFrame top = frames.get(at);
                    String type = top.getMethod().getType().getName();
                    String method = top.getMethod().getName();
                    found++;
                    if (!method.equals("busy") && !method.startsWith("busy$") || top.getLineNumber() < 20 || top.getLineNumber() > 30) {
                        if (!method.contains("main$")) {
                            other++;
                            unnamed = type + "." + method + " line " + top.getLineNumber();
                        }
                        continue;
                    }
                    tops.merge((type.equals("Sampled") ? "host" : "version") + " " + method.replaceAll("[0-9]+", "N"), 1, Integer::sum);
                    boolean host = type.equals("Sampled");
                    for (RecordedFrame frame : frames.subList(at + 1, frames.size())) {
                        host |= frame.getMethod().getType().getName().equals("Sampled") && frame.getMethod().getName().equals("busy");
                    }
                    below += host ? 1 : 0;
                }
            }
            int seen = tops.values().stream().mapToInt(Integer::intValue).sum();
            tops.forEach((top, n) -> System.out.println("top " + top));
            System.out.println("samples " + (seen > 10 ? "many" : "few " + seen));
            System.out.println("unnamed " + other);
            if (other > 0) {
                System.out.println("for example " + unnamed);
            }
            System.out.println("without the host " + (seen - below));
        } finally {
            Files.deleteIfExists(file);
        }
        done = true;
        worker.join();
    }
}
