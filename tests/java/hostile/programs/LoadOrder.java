import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * `LoadOrder GUESTS CLASS MILLISECONDS`: loads the class without linking it, waits, and calls its
 * method `run`. Prints each class that the JVM requests from this loader, with the thread.
 */
public class LoadOrder extends ClassLoader {
    private final Path folder;

    LoadOrder(Path folder) {
        super(null);
        this.folder = folder;
    }

    public static void main(String[] args) throws Exception {
        Thread.currentThread().setName("app-main");
        Class<?> app = new LoadOrder(Path.of(args[0])).loadClass(args[1]);
        Thread.sleep(Long.parseLong(args[2]));
        app.getMethod("run").invoke(null);
        System.out.println("end");
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> found = findLoadedClass(name);
            if (found != null) {
                return found;
            }
            if (name.startsWith("java.")) {
                return ClassLoader.getPlatformClassLoader().loadClass(name);
            }
            System.out.println("load " + name + " in " + Thread.currentThread().getName());
            try {
                byte[] bytes = Files.readAllBytes(folder.resolve(name.replace('.', '/') + ".class"));
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name);
            }
        }
    }
}
