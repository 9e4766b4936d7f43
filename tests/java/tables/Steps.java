import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/**
 * Methods that plans count in many tables, one after the other. Commands on standard input:
 *
 * <ul>
 * <li>`step N`: calls `step` with 0 to 9, N times.
 * <li>`hold`: a thread begins a call of `held`.
 * <li>`release`: the call of `held` returns.
 * <li>`collect`: collects the objects and classes that are unreachable.
 * <li>`stop`: ends the program.
 * </ul>
 */
public class Steps {
    static long seen;
    static final CountDownLatch BEGUN = new CountDownLatch(1);
    static final CountDownLatch RELEASED = new CountDownLatch(1);

    static void step(int i, String name) {
        seen += i + name.length();
    }

    static void held(int i) throws InterruptedException {
        BEGUN.countDown();
        RELEASED.await();
        seen += i;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Thread holder = new Thread(() -> {
            try {
                held(4711);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        String line;
        while ((line = in.readLine()) != null) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "step" -> {
                    for (int n = 0; n < Integer.parseInt(words[1]); n++) {
                        for (int i = 0; i < 10; i++) {
                            step(i, "name " + i);
                        }
                    }
                }
                case "hold" -> {
                    holder.start();
                    BEGUN.await();
                }
                case "release" -> {
                    RELEASED.countDown();
                    holder.join();
                }
                case "collect" -> System.gc();
                case "stop" -> {
                    return;
                }
                default -> throw new IllegalArgumentException(line);
            }
            System.out.println("done " + seen);
        }
    }
}
