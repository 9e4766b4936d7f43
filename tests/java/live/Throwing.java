import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.concurrent.SynchronousQueue;
import java.util.stream.Collectors;

/**
 * Throws exceptions, and prints the lines of their traces. `throw` throws ten in the main thread, and
 * prints how many traces Veneer has made exact until then. A number goes to a thread, a virtual one
 * where the JDK has them, that throws an exception after each three numbers.
 */
public class Throwing {
    static final SynchronousQueue<Integer> orders = new SynchronousQueue<>();

    static int deep(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("bottom");
        }
        int below = deep(depth - 1);
        return below + 1;
    }

    static void hold() throws InterruptedException {
        int sum = 0;
        for (int i = 0; i < 3; i++) {
            sum += orders.take();
        }
        throw new IllegalStateException("sum " + sum);
    }

    static String lines(Throwable thrown) {
        return Arrays.stream(thrown.getStackTrace())
                .filter(frame -> frame.getClassName().equals("Throwing"))
                .map(frame -> frame.getMethodName() + ":" + frame.getLineNumber())
                .distinct()
                .collect(Collectors.joining(" "));
    }

    static void holdForever() {
        for (;;) {
            try {
                hold();
            } catch (IllegalStateException e) {
                System.out.println("held " + e.getMessage() + " " + lines(e));
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** The number of traces that Veneer has made exact. Needs `--add-opens java.base/java.lang.invoke=ALL-UNNAMED`. */
    static long exactTraces() throws Exception {
        try {
            Field shown = Class.forName("java.lang.invoke.VeneerHosts", true, null).getDeclaredField("shown");
            shown.setAccessible(true);
            return shown.getInt(null);
        } catch (ClassNotFoundException e) {
            return 0;
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        Waiting.start(Throwing::holdForever);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); !"stop".equals(line); line = in.readLine()) {
            if (!line.equals("throw")) {
                System.out.println("given");
                orders.put(Integer.parseInt(line));
                continue;
            }
            String lines = "";
            for (int i = 0; i < 10; i++) {
                try {
                    deep(20);
                } catch (IllegalStateException e) {
                    lines = lines(e);
                }
            }
            System.out.println("exact " + exactTraces());
            System.out.println("thrown " + lines);
        }
    }
}
