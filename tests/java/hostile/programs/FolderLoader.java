import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A loader without a parent that defines the classes of a folder. It finds the classes of `java.*`
 * through the platform's loader. A subclass decides on locks, and on whether it is parallel capable.
 */
abstract class FolderLoader extends ClassLoader {
    static {
        // A subclass can be parallel capable only if its superclass is.
        registerAsParallelCapable();
    }

    private final Path folder;

    FolderLoader(Path folder) {
        super(null);
        this.folder = folder;
    }

    /** Returns the loaded class, or loads it. The caller holds the lock for this. */
    Class<?> load(String name) throws ClassNotFoundException {
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
