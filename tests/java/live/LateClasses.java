import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Method;

/**
 * Classes that are loaded late: `Late` is loaded when standard input has `load`, then twice more
 * by other class loaders. Each of the three classes calls `work(100)` once.
 */
public class LateClasses {
    public static class Late {
        static int half(int n) {
            return n / 2;
        }

        public static int work(int n) {
            int s = 0;
            for (int i = 0; i < n; i++) {
                s += half(i);
            }
            return s;
        }
    }

    static class Own extends ClassLoader {
        Class<?> define(String name) throws IOException {
            try (InputStream in = LateClasses.class.getResourceAsStream(name + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            int sum = Late.work(100);
            for (int i = 0; i < 2; i++) {
                Method work = new Own().define("LateClasses$Late").getMethod("work", int.class);
                sum += (int) work.invoke(null, 100);
            }
            System.out.println("sum " + sum);
        }
    }
}
