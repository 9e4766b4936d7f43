import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Runs the generated classes `Blocks` (one method with thousands of basic blocks) and `Methods` (thousands of
 * methods), until standard input has `stop` or ends.
 */
public class Wide {
    static volatile boolean stopped;

    public static void main(String[] args) throws Exception {
        var blocks = Class.forName("Blocks").getMethod("run", boolean.class);
        var methods = Class.forName("Methods").getMethod("m0", int.class);
        Thread worker = new Thread(() -> {
            try {
                for (int turn = 0; !stopped; turn++) {
                    blocks.invoke(null, turn % 2 == 0);
                    methods.invoke(null, turn);
                }
            } catch (ReflectiveOperationException e) {
                e.printStackTrace();
            }
        }, "worker");
        worker.setDaemon(true);
        worker.start();
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line = in.readLine();
        while (line != null && !line.equals("stop")) {
            line = in.readLine();
        }
        stopped = true;
    }
}
