import java.lang.reflect.Method;
import java.nio.file.Path;

/**
 * `HeldLoader GUESTS`: a loader that is not parallel capable. The main thread holds the loader's
 * lock and waits for a thread that runs a loop of the loader's class. If that thread needs the lock,
 * there is a deadlock.
 */
public class HeldLoader extends FolderLoader {
    HeldLoader(Path folder) {
        super(folder);
    }

    static int result;

    static void turn(Method turns) {
        try {
            result = (int) turns.invoke(null, 300);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        HeldLoader loader = new HeldLoader(Path.of(args[0]));
        Method turns = loader.loadClass("named.Held").getMethod("turns", int.class);
        System.out.println(turns.invoke(null, 3));
        Thread worker = new Thread(() -> turn(turns));
        synchronized (loader) {
            worker.start();
            worker.join();
        }
        System.out.println(result);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (this) {
            return load(name);
        }
    }
}
