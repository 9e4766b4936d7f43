package java.lang.invoke;

import java.lang.ref.WeakReference;
import java.lang.reflect.Modifier;
import jdk.internal.loader.BuiltinClassLoader;

/**
 * Classes that probes and call sites of versions name: which class a name means, and the numbers of
 * classes for casts.
 */
final class VeneerClasses {
    private VeneerClasses() {}

    private static final MethodHandle FIND_LOADED = findLoaded();

    private static MethodHandle findLoaded() {
        try {
            MethodType type = MethodType.methodType(Class.class, String.class);
            return MethodHandles.Lookup.IMPL_LOOKUP.findVirtual(ClassLoader.class, "findLoadedClass", type);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("ClassLoader.findLoadedClass", e);
        }
    }

    /**
     * The class that the class {@code by} means by a name, if it is loaded; else null. Calls no
     * class loader of the application.
     */
    static Class<?> loaded(Class<?> by, String name) throws Throwable {
        ClassLoader loader = by.getClassLoader();
        if (loader != null && !name.startsWith("java.")) {
            Class<?> found = (Class<?>) FIND_LOADED.invokeExact(loader, name);
            // The JDK's own loaders delegate to their parents first.
            while (found == null && loader instanceof BuiltinClassLoader && loader.getParent() != null) {
                loader = loader.getParent();
                found = (Class<?>) FIND_LOADED.invokeExact(loader, name);
            }
            return found;
        }
        try {
            return Class.forName(name, false, null);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    /**
     * The reason why code in the class {@code by} cannot name another class; null if it can. {@code
     * accessed} means that the code calls methods by that name, or casts to it. Calls no class
     * loader of the application.
     */
    static String unreachable(Class<?> by, Class<?> type, boolean accessed) throws Throwable {
        if (!means(by, type)) {
            return "the loader of " + by.getName() + " does not know this " + type.getName();
        }
        if (!accessed) {
            return null;
        }
        boolean neighbours =
                by.getClassLoader() == type.getClassLoader() && by.getPackageName().equals(type.getPackageName());
        if (!Modifier.isPublic(type.getModifiers()) && !neighbours) {
            return type.getName() + " is not public";
        }
        Module from = by.getModule();
        Module to = type.getModule();
        if (!from.canRead(to) || !to.isExported(type.getPackageName(), from)) {
            return to + " does not export " + type.getPackageName() + " to " + from;
        }
        return null;
    }

    /**
     * Whether the name of a class, in the class {@code by}, means that class, as far as loaded
     * classes decide this.
     */
    private static boolean means(Class<?> by, Class<?> type) throws Throwable {
        Class<?> known = loaded(by, type.getName());
        if (known != null) {
            return known == type;
        }
        // The JDK's own loaders find the classes of their parents.
        ClassLoader loader = by.getClassLoader();
        while (loader != type.getClassLoader()) {
            if (!(loader instanceof BuiltinClassLoader)) {
                return false;
            }
            loader = loader.getParent();
        }
        return true;
    }

    // ---- the numbers of classes -----------------------------------------------------------------

    /** Limit for the classes to which probes cast, in the life of the JVM. */
    private static final int MOST = 1 << 12;

    /**
     * These classes, by their numbers. A number is never reused, because live versions may contain
     * the offsets of its fields.
     */
    static final WeakReference<?>[] BY_NUMBER = new WeakReference<?>[MOST];

    private static int numbered;

    /**
     * The number of a class for {@link VeneerProbe#asA}; -1 if there are too many classes. Called by the
     * agent.
     */
    static synchronized long number(Class<?> type) {
        for (int n = 0; n < numbered; n++) {
            if (BY_NUMBER[n].get() == type) {
                return n;
            }
        }
        if (numbered == MOST) {
            return -1;
        }
        BY_NUMBER[numbered] = new WeakReference<>(type);
        return numbered++;
    }
}
