import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * `LockedLoader GUESTS`: a loader that takes a lock of the program inside the class loading lock.
 * The program has one thread, which takes the two locks in the opposite order. If a second thread
 * loads a class at the same time, there is a deadlock.
 */
public class LockedLoader extends ClassLoader {
    static {
        registerAsParallelCapable();
    }

    static final Object LOCK = new Object();
    private final Path folder;

    LockedLoader(Path folder) {
        super(null);
        this.folder = folder;
    }

    public static void main(String[] args) throws Exception {
        LockedLoader loader = new LockedLoader(Path.of(args[0]));
        Class<?> app = loader.loadClass("named.App");
        System.out.println(app.getMethod("once").invoke(null));
        synchronized (LOCK) {
            Thread.sleep(2500);
            System.out.println("now " + loader.loadClass("named.Late").getName());
        }
        System.out.println(app.getMethod("once").invoke(null));
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            synchronized (LOCK) {
                Class<?> found = findLoadedClass(name);
                if (found != null) {
                    return found;
                }
                if (name.startsWith("java.")) {
                    return ClassLoader.getPlatformClassLoader().loadClass(name);
                }
                try {
                    byte[] bytes = Files.readAllBytes(folder.resolve(name.replace('.', '/') + ".class"));
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name);
                }
            }
        }
    }
}
