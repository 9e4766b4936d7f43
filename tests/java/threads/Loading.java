import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * `Loading FOLDER CLASSES LOADERS`: eight threads load, initialise and use the classes `gen.C0`,
 * `gen.C1`, … of a folder, each in another order. Class k belongs to loader k % LOADERS, and each
 * loader delegates the other classes to the other loaders.
 */
public class Loading {
    static final int THREADS = 8;

    static class Shared extends ClassLoader {
        static {
            registerAsParallelCapable();
        }

        final Path folder;
        final int number;
        final Shared[] all;

        Shared(Path folder, int number, Shared[] all) {
            super(Loading.class.getClassLoader());
            this.folder = folder;
            this.number = number;
            this.all = all;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("gen.")) {
                return super.loadClass(name, resolve);
            }
            Shared owner = all[name.equals("gen.Seeds") ? 0 : Integer.parseInt(name.substring(5)) % all.length];
            return owner.own(name);
        }

        Class<?> own(String name) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                try {
                    byte[] bytes = Files.readAllBytes(folder.resolve(name.replace('.', '/') + ".class"));
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        Path folder = Path.of(args[0]);
        int classes = Integer.parseInt(args[1]);
        Shared[] loaders = new Shared[Integer.parseInt(args[2])];
        for (int i = 0; i < loaders.length; i++) {
            loaders[i] = new Shared(folder, i, loaders);
        }
        CountDownLatch start = new CountDownLatch(1);
        AtomicLong sum = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        List<String> errors = Collections.synchronizedList(new ArrayList<>());
        for (int t = 0; t < THREADS; t++) {
            int seed = t;
            Thread thread = new Thread(() -> {
                List<Integer> order = new ArrayList<>();
                for (int k = 0; k < classes; k++) {
                    order.add(k);
                }
                Collections.shuffle(order, new Random(seed));
                try {
                    start.await();
                    for (int k : order) {
                        Class<?> c = Class.forName("gen.C" + k, seed % 2 == 0, loaders[seed % loaders.length]);
                        Method run = c.getDeclaredMethod(c.isInterface() ? "run" : "use", long.class);
                        sum.addAndGet((long) run.invoke(null, (long) k) * (seed + 1));
                    }
                } catch (Throwable e) {
                    errors.add(seed + ": " + e + " " + e.getCause());
                }
            });
            threads.add(thread);
            thread.start();
        }
        start.countDown();
        for (Thread t : threads) {
            t.join();
        }
        System.out.println("sum " + sum.get() + " errors " + errors.size() + " " + errors.stream().limit(3).toList());
    }
}
