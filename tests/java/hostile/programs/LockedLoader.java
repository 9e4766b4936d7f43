import java.nio.file.Path;

/**
 * `LockedLoader GUESTS`: a loader that takes a lock of the program inside the class loading lock.
 * The program has one thread, which takes the two locks in the opposite order. If a second thread
 * loads a class at the same time, there is a deadlock.
 */
public class LockedLoader extends FolderLoader {
    static {
        registerAsParallelCapable();
    }

    static final Object LOCK = new Object();

    LockedLoader(Path folder) {
        super(folder);
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
                return load(name);
            }
        }
    }
}
