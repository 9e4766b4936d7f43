package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The methods by which compiled probes read objects of the application, and compute. Probes write
 * to {@link VeneerTables}, and keep values of threads in {@link VeneerThreads}.
 *
 * <p>Emitted code calls the public methods, so their names and descriptors are fixed. None of them
 * takes a lock or calls the application. None of them allocates, except for {@link #set}, once for
 * an object, and for texts of numbers, dates and descriptions (see {@link VeneerValues}).
 * Every property of null, and every element that an array does not have, is zero, false or null.
 */
public final class VeneerProbe {
    private VeneerProbe() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    // ---- casts ----------------------------------------------------------------------------------

    /** The object, if it is an instance of the class with this number; else null. */
    @ForceInline
    public static Object asA(Object o, long type) {
        return o != null && VeneerClasses.BY_NUMBER[(int) type].get() instanceof Class<?> c && c.isInstance(o) ? o : null;
    }

    // ---- calls of the application ---------------------------------------------------------------

    // The ids of the threads that are calling methods of the application from a probe. A thread's
    // place is one of the AROUND places from the one of its id on.
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

    /**
     * Whether a probe that calls methods of the application may run. It may not run inside such
     * calls of its own thread. After true, {@link #leave} must follow.
     */
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
        // If another thread takes the place, this pass of the probe is skipped.
        return free != 0 && U.compareAndSetLong(null, free, 0, thread);
    }

    /**
     * Ends a probe that calls methods of the application. {@code entered} is the result of {@link
     * #enter}.
     */
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

    // ---- fields, elements, strings --------------------------------------------------------------

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

    /** See {@link VeneerInlineCaches#look}. */
    @ForceInline
    public static long inlineCache(Object o, long cell) {
        return VeneerInlineCaches.look(o, cell);
    }

    /** Whether the class of an object, or one of its superclasses, has this name. */
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

    /** See {@link VeneerValues#size}. */
    public static long size(Object o) {
        return VeneerValues.size(o);
    }

    /** The integer in a box; 0 for null. */
    public static long integer(Object o) {
        return VeneerValues.integer(o);
    }

    /** The floating-point number in a box; 0 for null. */
    public static double real(Object o) {
        return VeneerValues.real(o);
    }

    /** The truth value in a box; false for null. */
    @ForceInline
    public static boolean truth(Object o) {
        return o instanceof Boolean b && b;
    }

    // ---- descriptions ---------------------------------------------------------------------------

    /** Begins the description of an object. Calls of {@code member} and {@code described} follow. */
    public static Object describe(Object o) {
        return VeneerValues.begin(o);
    }

    /** Adds a field to a description, and returns the description. */
    public static Object member(Object description, Object name, long value) {
        VeneerValues.member(description, name, value);
        return description;
    }

    public static Object member(Object description, Object name, double value) {
        VeneerValues.member(description, name, value);
        return description;
    }

    public static Object member(Object description, Object name, boolean value) {
        VeneerValues.member(description, name, value ? "true" : "false");
        return description;
    }

    public static Object member(Object description, Object name, Object value) {
        VeneerValues.member(description, name, VeneerValues.brief(value));
        return description;
    }

    /** Adds the UTF-16 code unit of a field of type {@code char}. */
    public static Object letter(Object description, Object name, long value) {
        VeneerValues.letter(description, name, (char) value);
        return description;
    }

    /** The text of a description. {@code more}: whether the object has more fields than were added. */
    public static Object described(Object description, Object o, boolean more) {
        return VeneerValues.end(description, o, more);
    }

    // ---- events of plans ------------------------------------------------------------------------

    /** Writes an event into the trace of the thread, if one is recorded. */
    public static void event(Object label) throws Throwable {
        VeneerTrace.event(label, VeneerLayout.VALUE_ABSENT, 0, null);
    }

    public static void event(Object label, long value) throws Throwable {
        VeneerTrace.event(label, VeneerLayout.VALUE_INT, value, null);
    }

    public static void event(Object label, double value) throws Throwable {
        VeneerTrace.event(label, VeneerLayout.VALUE_FLOAT, Double.doubleToRawLongBits(value), null);
    }

    public static void event(Object label, boolean value) throws Throwable {
        VeneerTrace.event(label, VeneerLayout.VALUE_STRING, 0, value ? "true" : "false");
    }

    public static void event(Object label, Object value) throws Throwable {
        String text = VeneerValues.text(value);
        if (text != null) {
            VeneerTrace.event(label, VeneerLayout.VALUE_STRING, 0, text);
        } else if (value == null) {
            VeneerTrace.event(label, VeneerLayout.VALUE_NULL, 0, null);
        } else {
            long hash = System.identityHashCode(value);
            VeneerTrace.event(label, VeneerLayout.VALUE_OBJECT, hash, value.getClass().getName());
        }
    }

    // ---- values ---------------------------------------------------------------------------------

    /** Whether a loop over this number of elements continues at an index. */
    @ForceInline
    public static boolean more(long at, long elements) {
        return at < elements && at < TURNS;
    }

    /** Limit for the iterations of a loop. */
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

    /**
     * Compares strings by content, and other objects by identity. Does not call {@code equals} of
     * the application.
     */
    @ForceInline
    public static boolean equal(Object a, Object b) {
        return a == b || a instanceof String s && b instanceof String t && s.equals(t);
    }

    /** Compares the texts of two values: that of an enum is its name. */
    public static boolean equalText(Object a, Object b) {
        return equal(VeneerValues.text(a), VeneerValues.text(b));
    }

    public static boolean differText(Object a, Object b) {
        return !equalText(a, b);
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
    private static final long PARK_BLOCKER = U.objectFieldOffset(Thread.class, "parkBlocker");

    @ForceInline
    public static long threadId() {
        return U.getLong(Thread.currentThread(), TID);
    }

    @ForceInline
    public static Object threadName() {
        return Thread.currentThread().getName();
    }

    @ForceInline
    public static Object parkBlocker() {
        return U.getReference(Thread.currentThread(), PARK_BLOCKER);
    }

    /** See {@link VeneerContexts#submitted}. */
    public static boolean taskSubmitted(Object task) throws Throwable {
        return VeneerContexts.submitted(task);
    }

    /** See {@link VeneerContexts#taskBegins}. */
    public static boolean taskBegins(Object task) throws Throwable {
        return VeneerContexts.taskBegins(task);
    }

    /** See {@link VeneerContexts#taskEnds}. */
    public static boolean taskEnds() throws Throwable {
        return VeneerContexts.taskEnds();
    }

    // ---- memory accesses ------------------------------------------------------------------------

    /** See {@link VeneerMemory#field}. */
    @ForceInline
    public static void memoryField(
            Object o, long shard, long own, long site, long access, long l1, Object owner, Object name) {
        if (!VeneerMemory.isSampled(access)) {
            VeneerMemory.field(o, shard, own, site, access, l1, owner, name);
        } else if (shard != 0) {
            VeneerMemory.sampledField(o, shard, own, site, access, l1, owner, name);
        }
    }

    /** See {@link VeneerMemory#element}. */
    @ForceInline
    public static void memoryElement(Object array, int index, long shard, long own, long site, long access, long l1) {
        if (!VeneerMemory.isSampled(access)) {
            VeneerMemory.element(array, index, shard, own, site, access, l1);
        } else if (shard != 0) {
            VeneerMemory.sampledElement(array, index, shard, own, site, access, l1);
        }
    }

    /** See {@link VeneerMemory#knownElement}. */
    @ForceInline
    public static void memoryKnownElement(Object array, int index, long shard, long site, long access, long l1) {
        if (!VeneerMemory.isSampled(access)) {
            VeneerMemory.knownElement(array, index, shard, site, access, l1);
        } else if (shard != 0) {
            VeneerMemory.sampledKnownElement(array, index, shard, site, access, l1);
        }
    }

    /** See {@link VeneerMemory#staticField}. */
    @ForceInline
    public static void memoryStatic(long shard, long site, long access, long l1, long address, Object owner) {
        if (!VeneerMemory.isSampled(access)) {
            VeneerMemory.staticField(shard, site, access, l1, address, owner);
        } else if (shard != 0) {
            VeneerMemory.sampledStaticField(shard, site, access, l1, address, owner);
        }
    }

    /** See {@link VeneerMemory#allocated}. */
    public static void memoryAllocated(Object o, long shard, long site, long access, long l1) {
        VeneerMemory.allocated(o, shard, site, access, l1);
    }

    // ---- lives of objects -----------------------------------------------------------------------

    /** See {@link VeneerLives#born}. */
    public static boolean objectBorn(Object o, Object site) {
        return VeneerLives.born(o, site);
    }

    /** See {@link VeneerLives#constructed}. */
    public static boolean objectConstructed(Object o, Object site) {
        return VeneerLives.constructed(o, site);
    }

    /** See {@link VeneerLives#used}. */
    public static boolean objectUsed(Object o) {
        return VeneerLives.used(o);
    }

    // ---- keys of tables, values of objects, passes ----------------------------------------------

    /** The number of a string in a table, by its first characters; 0 for other objects. */
    @ForceInline
    public static long text(Object o, long table) {
        return o instanceof String s ? VeneerTexts.number(table, s) : 0;
    }

    /**
     * The word of a key that is an object: its identity hash, or, for a string or another value with
     * a text, the number of the text with a mark.
     */
    @ForceInline
    public static long object(Object o, long table) {
        String s = o instanceof String t ? t : VeneerValues.text(o);
        return s == null
                ? System.identityHashCode(o)
                : VeneerTables.STRINGS | VeneerTexts.number(table, s) & 0xffff_ffffL;
    }

    /** {@link #text} for a table of the latest values. */
    @ForceInline
    public static long latestText(Object o, long table) {
        return o instanceof String s ? VeneerTexts.next(table, s) : 0;
    }

    /** {@link #object} for a table of the latest values. */
    public static long latestObject(Object o, long table) {
        String s = VeneerValues.text(o);
        return s == null
                ? System.identityHashCode(o)
                : VeneerTables.STRINGS | VeneerTexts.next(table, s) & 0xffff_ffffL;
    }

    @ForceInline
    public static long bits(double x) {
        return Double.doubleToRawLongBits(x);
    }

    @ForceInline
    public static double fromBits(long bits) {
        return Double.longBitsToDouble(bits);
    }

    /** The nearest integer; 0 for NaN. */
    @ForceInline
    public static long round(double x) {
        return Math.round(x);
    }

    /** Sets the value of an object in a table of {@link VeneerObjects}. Does nothing for null. */
    @ForceInline
    public static void set(long table, Object object, long value) {
        VeneerObjects.set(table, object, value);
    }

    /** The value of an object; 0 if it has none, and for null. */
    @ForceInline
    public static long get(long table, Object object) {
        return VeneerObjects.get(table, object);
    }

    /**
     * The number of this thread's call stack, cut to the innermost frames; 0 if there is no room
     * for another stack.
     */
    public static native long stack(long depth);

    public static long stack() {
        return stack(32);
    }

    /** Counts a pass in {@code cell}, and returns whether it is one of the first {@code most}. */
    @ForceInline
    public static boolean first(long cell, long most) {
        return VeneerRuntime.first(cell, most);
    }

    private static final int EVERY = 1 << 12;
    private static final long PASSES = U.allocateMemory(64L * EVERY);

    static {
        U.setMemory(PASSES, 64L * EVERY, (byte) 0);
    }

    /**
     * The address where a thread counts its passes of a place of a plan. Two of them rarely share
     * an address.
     */
    @ForceInline
    private static long passes(long place) {
        long of = U.getLong(Thread.currentThread(), TID) ^ place << 20;
        return PASSES + 64 * VeneerTables.slot(of * 0x9E3779B97F4A7C15L, EVERY);
    }

    /** Whether this is one of the current thread's first {@code n} passes in this second. */
    @ForceInline
    public static boolean perSecond(long n, long place) {
        long at = passes(place);
        long second = System.nanoTime() / 1_000_000_000L;
        long pass = U.getLong(at + 8) == second ? U.getLong(at) + 1 : 1;
        U.putLong(at, pass);
        U.putLong(at + 8, second);
        return pass <= n;
    }

    /** Whether this is one of the current thread's passes out of {@code n}. */
    @ForceInline
    public static boolean oneIn(long n, long place) {
        long at = passes(place);
        long since = U.getLong(at) + 1;
        boolean one = since >= n;
        U.putLong(at, one ? 0 : since);
        return one;
    }
}
