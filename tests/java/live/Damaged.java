import java.io.InputStream;
import java.lang.reflect.Method;

/**
 * Defines one class many times, each time with one byte changed, and prints the outcome: the value
 * of its method, or the kind of the error. A damaged class must fail in the same way with and
 * without the agent.
 */
public class Damaged {
    public static class Victim {
        private final String text;

        Victim(String text) {
            this.text = text;
        }

        public static int value(int n) {
            int s = 3;
            try {
                s += new Victim("abc").text.length() * n;
                s = n > 4 ? s * 2 : s - 1;
                switch (n) {
                    case 1:
                        s += 10;
                        break;
                    case 7:
                        s /= n - 7;
                        break;
                    default:
                        s++;
                }
            } catch (ArithmeticException e) {
                s = -s;
            }
            return s;
        }
    }

    static class Own extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    static String outcome(byte[] bytes) {
        try {
            Class<?> made = new Own().define(bytes);
            Method value = made.getMethod("value", int.class);
            return made.getName() + " " + value.invoke(null, 1) + " " + value.invoke(null, 7);
        } catch (java.lang.reflect.InvocationTargetException e) {
            return e.getCause().getClass().getName() + " inside";
        } catch (Throwable e) {
            return e.getClass().getName();
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] original;
        try (InputStream in = Damaged.class.getResourceAsStream("Damaged$Victim.class")) {
            original = in.readAllBytes();
        }
        System.out.println("whole " + outcome(original));
        System.out.println("cut " + outcome(java.util.Arrays.copyOf(original, original.length / 2)));
        for (int place = 0; place < original.length; place += 5) {
            byte[] bytes = original.clone();
            bytes[place] ^= (byte) (1 << place % 7);
            String[] result = {"late"};
            Thread thread = new Thread(() -> {
                result[0] = outcome(bytes);
            });
            thread.setDaemon(true);
            thread.start();
            thread.join(3000);
            System.out.println(place + " " + result[0]);
        }
    }
}
