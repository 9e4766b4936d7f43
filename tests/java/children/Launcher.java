import java.util.ArrayList;
import java.util.List;

/**
 * A program that starts itself again in another JVM, as build tools do: {@code Launcher DEPTH
 * [JAVA]}. Each JVM calls {@code step} a thousand times and prints the sum and its process id. Its
 * exit code is that of the JVM that it started; the exit code of the last JVM is 7.
 */
public class Launcher {
    static long step(long n) {
        return n + 1;
    }

    public static void main(String[] args) throws Exception {
        int depth = Integer.parseInt(args[0]);
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum = step(sum);
        }
        System.out.println("depth " + depth + " pid " + ProcessHandle.current().pid() + " sum " + sum);
        if (depth == 0) {
            System.exit(7);
        }
        List<String> command = new ArrayList<>();
        command.add(args.length > 1 ? args[1] : System.getProperty("java.home") + "/bin/java");
        command.addAll(List.of("-Xmx64m", "-cp", System.getProperty("java.class.path"), "Launcher"));
        command.add(Integer.toString(depth - 1));
        Process process = new ProcessBuilder(command).inheritIO().start();
        System.exit(process.waitFor());
    }
}
