import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Values and names that a page must show as text, and a method with many blocks. Runs until standard input
 * has `stop` or ends.
 */
public class Trouble {
    static final String MARKUP = "<img src=x onerror=\"document.title='hit'\"><script>document.title='hit'</script>";
    static volatile boolean stopped;

    static int show(String text, int turn) {
        return text.length() + turn;
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(() -> {
            int turn = 0;
            while (!stopped) {
                turn = show(MARKUP + turn, turn) % 1000;
            }
        }, MARKUP);
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
