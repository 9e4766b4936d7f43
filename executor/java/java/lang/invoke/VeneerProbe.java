package java.lang.invoke;

import java.lang.ref.WeakReference;
import java.lang.reflect.Modifier;
import jdk.internal.loader.BuiltinClassLoader;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What compiled probes call: reading what is the application's. What they give goes to {@link VeneerTables}, and what threads keep for themselves to
 * {@link VeneerThreads}. Nothing there that they call (but {@link #set}, once for an object) allocates, takes a lock or calls the application; of null everything is
 * zero, false or null, and so is an element that is not there.
 */
public final class VeneerProbe {
    private VeneerProbe() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    // ---- classes, for the agent --------------------------------------------------------------------------------------

    private static final MethodHandle FIND_LOADED = findLoaded();

    private static MethodHandle findLoaded() {
        try {
            MethodType type = MethodType.methodType(Class.class, String.class);
            return MethodHandles.Lookup.IMPL_LOOKUP.findVirtual(ClassLoader.class, "findLoadedClass", type);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("ClassLoader.findLoadedClass", e);
        }
    }

    /** The class that another one means by a name, where it is loaded already: no loader of the application is asked. */
    static Class<?> loaded(Class<?> by, String name) throws Throwable {
        ClassLoader loader = by.getClassLoader();
        if (loader != null && !name.startsWith("java.")) {
            Class<?> found = (Class<?>) FIND_LOADED.invokeExact(loader, name);
            // The JDK's own loaders ask their parents first.
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
     * Why code in a class cannot name another one; null where it can. {@code accessed}: it calls methods by that name, or casts to it. No
     * loader of the application is asked.
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

    /** Whether a name in one class leads to another one, as far as that is settled. */
    private static boolean means(Class<?> by, Class<?> type) throws Throwable {
        Class<?> known = loaded(by, type.getName());
        if (known != null) {
            return known == type;
        }
        // The JDK's own loaders find what is above them.
        ClassLoader loader = by.getClassLoader();
        while (loader != type.getClassLoader()) {
            if (!(loader instanceof BuiltinClassLoader)) {
                return false;
            }
            loader = loader.getParent();
        }
        return true;
    }

    // ---- casts -------------------------------------------------------------------------------------------------------

    /** Classes at most to which code casts, in the life of the JVM. */
    private static final int TYPES = 1 << 12;

    /** They, by their numbers, which stay theirs: code that is still there may know where their fields lie. */
    private static final WeakReference<?>[] TYPE = new WeakReference<?>[TYPES];

    private static int types;

    /** The number of a class for {@link #asA}; -1 where there are too many. Called by the agent. */
    static synchronized long type(Class<?> type) {
        for (int n = 0; n < types; n++) {
            if (TYPE[n].get() == type) {
                return n;
            }
        }
        if (types == TYPES) {
            return -1;
        }
        TYPE[types] = new WeakReference<>(type);
        return types++;
    }

    /** An object, if it is one of the class with this number, or null. */
    @ForceInline
    public static Object asA(Object o, long type) {
        return o != null && TYPE[(int) type].get() instanceof Class<?> c && c.isInstance(o) ? o : null;
    }

    // ---- calls of the application -------------------------------------------------------------------------------------

    // The threads that call methods of the application from code at points, by their ids: each is among the AROUND places that follow
    // the one of its id.
    private static final int INSIDE = 1 << 12;
    private static final int AROUND = 8;
    private static final long THREADS = U.allocateMemory(8L * INSIDE);

    static {
        U.setMemory(THREADS, 8L * INSIDE, (byte) 0);
    }

    @ForceInline
    public static boolean present(Object o) {
        return o != null;
    }

    /** Whether code that calls methods of the application may run: not where its own calls have led. Then it is to be left again. */
    public static boolean enter() {
        long thread = threadId();
        long free = 0;
        for (int i = 0; i < AROUND; i++) {
            long place = THREADS + 8 * (thread + i & INSIDE - 1);
            long owner = U.getLong(place);
            if (owner == thread) {
                return false;
            }
            if (owner == 0 && free == 0) {
                free = place;
            }
        }
        // Another thread may take the place meanwhile: then this pass is left out.
        return free != 0 && U.compareAndSetLong(null, free, 0, thread);
    }

    /** The end of it, where it was entered. */
    public static void leave(boolean entered) {
        if (!entered) {
            return;
        }
        long thread = threadId();
        for (int i = 0; i < AROUND; i++) {
            long place = THREADS + 8 * (thread + i & INSIDE - 1);
            if (U.getLong(place) == thread) {
                U.putLongRelease(null, place, 0);
                return;
            }
        }
    }

    // ---- fields, elements, strings -----------------------------------------------------------------------------------

    @ForceInline
    public static boolean booleanIn(Object o, long offset) {
        return o != null && U.getBoolean(o, offset);
    }

    @ForceInline
    public static long byteIn(Object o, long offset) {
        return o == null ? 0 : U.getByte(o, offset);
    }

    @ForceInline
    public static long shortIn(Object o, long offset) {
        return o == null ? 0 : U.getShort(o, offset);
    }

    @ForceInline
    public static long charIn(Object o, long offset) {
        return o == null ? 0 : U.getChar(o, offset);
    }

    @ForceInline
    public static long intIn(Object o, long offset) {
        return o == null ? 0 : U.getInt(o, offset);
    }

    @ForceInline
    public static long longIn(Object o, long offset) {
        return o == null ? 0 : U.getLong(o, offset);
    }

    @ForceInline
    public static double floatIn(Object o, long offset) {
        return o == null ? 0 : U.getFloat(o, offset);
    }

    @ForceInline
    public static double doubleIn(Object o, long offset) {
        return o == null ? 0 : U.getDouble(o, offset);
    }

    @ForceInline
    public static Object objectIn(Object o, long offset) {
        return o == null ? null : U.getReference(o, offset);
    }

    @ForceInline
    private static boolean has(int length, long index) {
        return index >= 0 && index < length;
    }

    @ForceInline
    public static boolean booleanAt(Object o, long i) {
        return o instanceof boolean[] a && has(a.length, i) && a[(int) i];
    }

    @ForceInline
    public static long byteAt(Object o, long i) {
        return o instanceof byte[] a && has(a.length, i) ? a[(int) i] : 0;
    }

    @ForceInline
    public static long shortAt(Object o, long i) {
        return o instanceof short[] a && has(a.length, i) ? a[(int) i] : 0;
    }

    @ForceInline
    public static long charAt(Object o, long i) {
        return o instanceof char[] a && has(a.length, i) ? a[(int) i] : 0;
    }

    @ForceInline
    public static long intAt(Object o, long i) {
        return o instanceof int[] a && has(a.length, i) ? a[(int) i] : 0;
    }

    @ForceInline
    public static long longAt(Object o, long i) {
        return o instanceof long[] a && has(a.length, i) ? a[(int) i] : 0;
    }

    @ForceInline
    public static double floatAt(Object o, long i) {
        return o instanceof float[] a && has(a.length, i) ? a[(int) i] : 0;
    }

    @ForceInline
    public static double doubleAt(Object o, long i) {
        return o instanceof double[] a && has(a.length, i) ? a[(int) i] : 0;
    }

    @ForceInline
    public static Object objectAt(Object o, long i) {
        return o instanceof Object[] a && has(a.length, i) ? a[(int) i] : null;
    }

    @ForceInline
    public static long elements(Object o) {
        if (o instanceof Object[] a) {
            return a.length;
        }
        if (o instanceof int[] a) {
            return a.length;
        }
        if (o instanceof byte[] a) {
            return a.length;
        }
        if (o instanceof char[] a) {
            return a.length;
        }
        if (o instanceof long[] a) {
            return a.length;
        }
        if (o instanceof double[] a) {
            return a.length;
        }
        if (o instanceof boolean[] a) {
            return a.length;
        }
        if (o instanceof float[] a) {
            return a.length;
        }
        return o instanceof short[] a ? a.length : 0;
    }

    @ForceInline
    public static long characters(Object o) {
        return o instanceof String s ? s.length() : 0;
    }

    @ForceInline
    public static boolean startsWith(Object o, Object start) {
        return o instanceof String s && start instanceof String t && s.startsWith(t);
    }

    @ForceInline
    public static boolean endsWith(Object o, Object end) {
        return o instanceof String s && end instanceof String t && s.endsWith(t);
    }

    @ForceInline
    public static boolean contains(Object o, Object part) {
        return o instanceof String s && part instanceof String t && s.indexOf(t) >= 0;
    }

    @ForceInline
    public static long identity(Object o) {
        return System.identityHashCode(o);
    }

    @ForceInline
    public static Object classOf(Object o) {
        return o == null ? null : o.getClass().getName();
    }

    /** Whether the class of an object, or one above it, has a name. */
    public static boolean isA(Object o, Object name) {
        if (o != null && name instanceof String s) {
            for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass()) {
                if (c.getName().equals(s)) {
                    return true;
                }
            }
        }
        return false;
    }

    // ---- values ------------------------------------------------------------------------------------------------------

    /** Whether a loop over so many elements goes on at an index. */
    @ForceInline
    public static boolean more(long at, long elements) {
        return at < elements && at < TURNS;
    }

    /** As {@code veneer_probes::compile::TURNS}. */
    private static final long TURNS = VeneerLayout.MAX_ITERATIONS;

    @ForceInline
    public static boolean not(boolean b) {
        return !b;
    }

    @ForceInline
    public static boolean equal(long a, long b) {
        return a == b;
    }

    @ForceInline
    public static boolean equal(double a, double b) {
        return a == b;
    }

    @ForceInline
    public static boolean equal(boolean a, boolean b) {
        return a == b;
    }

    /** Strings by what is in them, other objects by identity: {@code equals} of the application is not called. */
    @ForceInline
    public static boolean equal(Object a, Object b) {
        return a == b || a instanceof String s && b instanceof String t && s.equals(t);
    }

    @ForceInline
    public static boolean differ(long a, long b) {
        return a != b;
    }

    @ForceInline
    public static boolean differ(double a, double b) {
        return a != b;
    }

    @ForceInline
    public static boolean differ(boolean a, boolean b) {
        return a != b;
    }

    @ForceInline
    public static boolean differ(Object a, Object b) {
        return !equal(a, b);
    }

    @ForceInline
    public static boolean less(long a, long b) {
        return a < b;
    }

    @ForceInline
    public static boolean less(double a, double b) {
        return a < b;
    }

    @ForceInline
    public static boolean lessEqual(long a, long b) {
        return a <= b;
    }

    @ForceInline
    public static boolean lessEqual(double a, double b) {
        return a <= b;
    }

    @ForceInline
    public static boolean greater(long a, long b) {
        return a > b;
    }

    @ForceInline
    public static boolean greater(double a, double b) {
        return a > b;
    }

    @ForceInline
    public static boolean greaterEqual(long a, long b) {
        return a >= b;
    }

    @ForceInline
    public static boolean greaterEqual(double a, double b) {
        return a >= b;
    }

    @ForceInline
    public static long toInt(double x) {
        return (long) x;
    }

    @ForceInline
    public static double toFloat(double x) {
        return x;
    }

    @ForceInline
    public static long now() {
        return System.nanoTime();
    }

    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    @ForceInline
    public static long threadId() {
        return U.getLong(Thread.currentThread(), TID);
    }

    @ForceInline
    public static Object threadName() {
        return Thread.currentThread().getName();
    }

    // ---- keys of tables, values of objects, passes ---------------------------------------------------------------------

    /** The number of a string, by its first characters. */
    @ForceInline
    public static long text(Object o, long table) {
        return o instanceof String s ? VeneerTexts.number(table, s) : 0;
    }

    /** An object by its identity; one that is a string by its number, which is marked. */
    @ForceInline
    public static long object(Object o, long table) {
        return o instanceof String s
                ? VeneerTables.STRINGS | VeneerTexts.number(table, s) & 0xffff_ffffL
                : System.identityHashCode(o);
    }

    @ForceInline
    public static long bits(double x) {
        return Double.doubleToRawLongBits(x);
    }

    /** The nearest whole number; 0 of what is none. */
    @ForceInline
    public static long round(double x) {
        return Math.round(x);
    }

    /** Gives an object a value in a table of such; nothing happens of null. */
    @ForceInline
    public static void set(long table, Object object, long value) {
        VeneerObjects.set(table, object, value);
    }

    /** The value of an object; 0 where it has none, and of null. */
    @ForceInline
    public static long get(long table, Object object) {
        return VeneerObjects.get(table, object);
    }

    /** The number of this thread's call stack, its innermost frames; 0 where there is no room for another. */
    public static native long stack(long depth);

    public static long stack() {
        return stack(32);
    }

    /** Whether this is among the first so many that come to a cell. */
    @ForceInline
    public static boolean first(long cell, long most) {
        return VeneerRuntime.first(cell, most);
    }

    private static final int EVERY = 1 << 12;
    private static final long PASSES = U.allocateMemory(64L * EVERY);

    static {
        U.setMemory(PASSES, 64L * EVERY, (byte) 0);
    }

    /** Where a thread counts its passes of a place of a plan; seldom two of them at one place. */
    @ForceInline
    private static long passes(long place) {
        long of = U.getLong(Thread.currentThread(), TID) ^ place << 20;
        return PASSES + 64 * VeneerTables.slot(of * 0x9E3779B97F4A7C15L, EVERY);
    }

    /** Whether these are at most so many passes in this second, each thread by itself. */
    @ForceInline
    public static boolean perSecond(long n, long place) {
        long at = passes(place);
        long second = System.nanoTime() / 1_000_000_000L;
        long pass = U.getLong(at + 8) == second ? U.getLong(at) + 1 : 1;
        U.putLong(at, pass);
        U.putLong(at + 8, second);
        return pass <= n;
    }

    /** Whether this is one in so many passes, each thread by itself. */
    @ForceInline
    public static boolean oneIn(long n, long place) {
        long at = passes(place);
        long since = U.getLong(at) + 1;
        boolean one = since >= n;
        U.putLong(at, one ? 0 : since);
        return one;
    }
}
