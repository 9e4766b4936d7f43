import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * `Guests FOLDER`: for each line N, creates N class loaders, and uses and drops five classes of
 * each. `stop` ends the program.
 */
public class Guests {
    static long visit(Path folder) throws Exception {
        long sum = 0;
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, Guests.class.getClassLoader())) {
            for (int c = 0; c < 5; c++) {
                Class<?> guest = Class.forName("Many" + c, true, loader);
                Method all = guest.getDeclaredMethod("all", long.class);
                all.setAccessible(true);
                sum += (long) all.invoke(null, 3L);
            }
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        Path folder = Path.of(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            long sum = 0;
            for (int i = 0; i < Integer.parseInt(line); i++) {
                sum += visit(folder);
            }
            System.gc();
            System.out.println("done " + sum);
        }
    }
}
