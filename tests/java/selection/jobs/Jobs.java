package jobs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Method;

/**
 * `early N`, `late N`, `twins N`: any of them, in any number, as arguments or one per line. A
 * class is loaded when it is first needed.
 */
public class Jobs {
    /**
     * Defines the classes of this package whose names begin with `start`, and delegates all others
     * to its parent.
     */
    static class Own extends ClassLoader {
        private final String start;

        Own(String start) {
            super(Jobs.class.getClassLoader());
            this.start = "jobs." + start;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> found = findLoadedClass(name);
                if (found != null || !name.startsWith(start)) {
                    return found != null ? found : super.loadClass(name, resolve);
                }
                String file = name.substring(name.lastIndexOf('.') + 1) + ".class";
                try (InputStream in = Jobs.class.getResourceAsStream(file)) {
                    byte[] bytes = in.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    static long early(int n) {
        Print print = new Print();
        Task scan = Scan.make();
        Other other = new Other();
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += print.run(i) + scan.run(i) + other.run(i) + other.applyAsInt(i);
        }
        return sum;
    }

    static long late(int n) {
        LateLeaf leaf = new LateLeaf();
        LateOther other = new LateOther();
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += leaf.run(i) + other.run(i);
        }
        return sum;
    }

    /**
     * One Guest is a subtype of this class's Task, the other is a subtype of its own loader's Task.
     */
    static long twins(int n) throws Exception {
        long sum = 0;
        for (String start : new String[] {"Guest", ""}) {
            Class<?> type = new Own(start).loadClass("jobs.Guest");
            Object guest = type.getConstructor().newInstance();
            Method run = type.getMethod("run", int.class);
            for (int i = 0; i < n; i++) {
                sum += (int) run.invoke(guest, i) + (guest instanceof Task ? 1 : 0);
            }
        }
        return sum;
    }

    static void step(String what, int n) throws Exception {
        long sum = switch (what) {
            case "early" -> early(n);
            case "late" -> late(n);
            case "twins" -> twins(n);
            default -> throw new IllegalArgumentException(what);
        };
        System.out.println("sum " + sum);
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        for (int i = 0; i < args.length; i += 2) {
            step(args[i], Integer.parseInt(args[i + 1]));
        }
        if (args.length > 0) {
            return;
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            String[] words = line.split(" ");
            step(words[0], Integer.parseInt(words[1]));
        }
    }
}
