import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * The application's class loader, which records every call with its thread. A call from a thread
 * that the application did not start ends the JVM with exit code 99 and prints the stack of that
 * thread.
 *
 * System properties: `guests` is the folder of the classes that this loader defines; `parallel`
 * says whether the loader is parallel capable; `variant` is `none`, `throws`, `blocks`,
 * `blocks-all`, `twins` or `recursive`.
 */
public class RecordingLoader extends ClassLoader {
    static {
        if (Boolean.getBoolean("parallel")) {
            registerAsParallelCapable();
        }
    }

    /** All calls except those for classes of `java.*`: loader, method, argument, thread. */
    static final Set<String> CALLS = new ConcurrentSkipListSet<>();

    /**
     * In the variants `blocks` and `blocks-all`, the main thread holds this lock from the first to
     * the last moment. Loading a class takes the lock; in the variant `blocks` only for classes
     * outside `java.*`.
     */
    static final Object LOCK = new Object();

    static final String VARIANT = System.getProperty("variant", "none");

    private static final Path FOLDER = Path.of(System.getProperty("guests"));

    /** The loader that defines the classes of package `other` for this one, in the variant `twins`. */
    private final RecordingLoader sibling;

    private final String label;

    /** The JVM creates the system class loader with this constructor. */
    public RecordingLoader(ClassLoader parent) {
        this(parent, "first", null);
    }

    RecordingLoader(ClassLoader parent, String label, RecordingLoader sibling) {
        super(parent);
        this.label = label;
        this.sibling = sibling;
    }

    private void note(String method, String argument) {
        String thread = Thread.currentThread().getName();
        if (!thread.equals("main") && !thread.startsWith("app-")) {
            System.out.println("foreign call: " + method + " " + argument + " in " + thread);
            new Throwable("foreign call: " + method + " " + argument + " in " + thread).printStackTrace();
            Runtime.getRuntime().halt(99);
        }
        // Armed code refers to runtime classes in `java.lang.invoke`. The JVM requests them from
        // this loader in threads of the application. The loader does not define them.
        if (!argument.startsWith("java.")) {
            CALLS.add(label + " " + method + " " + argument + " in " + thread);
        }
    }

    /** Returns the lock under which a class is loaded, without recording the call. */
    Object lockOf(String name) {
        return super.getClassLoadingLock(name);
    }

    @Override
    protected Object getClassLoadingLock(String name) {
        if (label != null) {
            note("getClassLoadingLock", name);
        }
        return super.getClassLoadingLock(name);
    }

    @Override
    public Class<?> loadClass(String name) throws ClassNotFoundException {
        note("loadClass", name);
        return loadClass(name, false);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        note("loadClass(resolve)", name);
        if (VARIANT.equals("blocks-all") || VARIANT.equals("blocks") && !name.startsWith("java.")) {
            synchronized (LOCK) {
                return load(name, resolve);
            }
        }
        return load(name, resolve);
    }

    private Class<?> load(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> found = findLoadedClass(name);
            if (found != null) {
                return found;
            }
            if (!name.startsWith("guest.") && !name.startsWith("other.")) {
                return super.loadClass(name, resolve);
            }
            switch (VARIANT) {
                case "throws" -> {
                    switch (name) {
                        case "guest.Absent" -> throw new ClassNotFoundException(name);
                        case "guest.Broken" -> throw new IllegalStateException(name);
                        case "guest.Worse" -> throw new StackOverflowError(name);
                        default -> { }
                    }
                }
                case "twins" -> {
                    if (sibling != null && name.startsWith("other.")) {
                        return sibling.loadClass(name);
                    }
                }
                case "recursive" -> {
                    // Each class of package `guest` first needs these two, and `Deeper` needs
                    // `Deepest`.
                    if (name.startsWith("guest.") && !name.startsWith("guest.Deep")) {
                        loadClass("guest.Deeper");
                    } else if (name.equals("guest.Deeper")) {
                        loadClass("guest.Deepest");
                    }
                }
                default -> { }
            }
            return findClass(name);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        note("findClass", name);
        try {
            byte[] bytes = Files.readAllBytes(FOLDER.resolve(name.replace('.', '/') + ".class"));
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name);
        }
    }

    @Override
    public URL getResource(String name) {
        note("getResource", name);
        return super.getResource(name);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        note("getResources", name);
        return super.getResources(name);
    }

    @Override
    public InputStream getResourceAsStream(String name) {
        note("getResourceAsStream", name);
        return super.getResourceAsStream(name);
    }

    @Override
    protected URL findResource(String name) {
        note("findResource", name);
        return super.findResource(name);
    }

    @Override
    protected String findLibrary(String name) {
        note("findLibrary", name);
        return super.findLibrary(name);
    }
}
