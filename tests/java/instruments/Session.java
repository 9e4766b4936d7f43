import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Commands on standard input, one per line: `call N` calls `work(3)` N times; `begin` starts a
 * thread that runs the loop of `spin`, and `end` ends it; `stop` (or the end of the input) ends
 * the program. Each line is answered.
 */
public class Session {
    static volatile boolean spinning;

    /** f0 → f1 header → f2 body → f1; f1 → f3. */
    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        return sum;
    }

    static int never(int n) {
        return n + 1;
    }

    static long spin() {
        long turns = 0;
        while (spinning) {
            turns++;
        }
        return turns;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Thread spinner = null;
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "call" -> {
                    long sum = 0;
                    for (int i = Integer.parseInt(words[1]); i > 0; i--) {
                        sum += work(3);
                    }
                    System.out.println("called " + sum);
                }
                case "never" -> System.out.println("never " + never(1));
                case "begin" -> {
                    spinning = true;
                    spinner = new Thread(() -> System.out.println("turned " + (spin() > 0)));
                    spinner.start();
                    System.out.println("begun");
                }
                case "end" -> {
                    spinning = false;
                    spinner.join();
                    System.out.println("ended");
                }
                default -> System.out.println("what?");
            }
        }
        spinning = false;
    }
}
