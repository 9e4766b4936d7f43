import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;

/**
 * For each line N, creates N hidden classes with two methods, lets these be compiled with their
 * profiles, and drops the classes. `stop` ends the program.
 */
public class Hidden {
    static volatile long kept;

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        byte[] bytes;
        try (InputStream file = Hidden.class.getResourceAsStream("Hidden$Body.class")) {
            bytes = file.readAllBytes();
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            for (int i = 0; i < Integer.parseInt(line); i++) {
                Class<?> body = MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass();
                ((Runnable) body.getDeclaredConstructor().newInstance()).run();
            }
            System.gc();
            System.out.println("done");
        }
    }

    static class Body implements Runnable {
        static long even(long x) {
            return (x & 1) == 0 ? x * 31 : x - 7;
        }

        static long odd(long x) {
            return (x & 2) == 0 ? x * 31 : x - 7;
        }

        @Override
        public void run() {
            long x = 1;
            for (int i = 0; i < 400; i++) {
                x = odd(even(x));
            }
            kept = x;
        }
    }
}
