package java.lang.invoke;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.Stable;

/**
 * The counters of complete call graphs. Code that {@code fragmenter/src/call_counters} has inserted
 * into methods of all classes calls {@link #count} and {@link #call}.
 *
 * <p>The methods of the JDK have such code too. So nothing here may execute a method of the JDK that
 * is not native, except the two methods that have no counters, and in {@link #add}, where the
 * thread's counts are not read. A native method of the JDK has no code.
 *
 * <p>The counters are those of a thread, as in {@link VeneerRuntime}, but in another file, so that
 * they outlive the JVM.
 */
public final class VeneerCalls {
    private VeneerCalls() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");
    private static final long LOADER = U.objectFieldOffset(Class.class, "classLoader");
    private static final int MASK = VeneerLayout.THREAD_ROWS - 1;

    // ---- counters -------------------------------------------------------------------------------

    /**
     * Two words for each value of {@code tid & MASK}: the id of a thread, and the address of its
     * counters. No thread has the id -1. A thread that is being attached has the id 0.
     */
    private static final long[] OWN = new long[2 * VeneerLayout.THREAD_ROWS];

    /** The superclass of virtual threads, or null. */
    @Stable private static Class<?> virtualThreads;

    /** The address of the counters that threads without counters of their own share, negated. */
    @Stable private static long shared;

    /** The address of counters that nobody reads. */
    @Stable private static long unread;

    static long[] own() {
        return OWN;
    }

    /** Called once, before any class has counters. */
    static void start(long shared, long unread, long pairs, Class<?> virtualThreads) {
        OWN[0] = -1;
        VeneerCalls.virtualThreads = virtualThreads;
        VeneerCalls.shared = -shared;
        VeneerCalls.unread = unread;
        VeneerCalls.pairs = pairs;
        // Links everything. The JVM executes Java code when it links a native method.
        find(U.getLong(Thread.currentThread(), TID));
        counter(0, 0);
        named(0, null);
    }

    /** Counts. {@code offset} is that of the counter. */
    @Hidden
    @ForceInline
    public static void count(int offset) {
        long tid = U.getLong(Thread.currentThread(), TID);
        int at = ((int) tid & MASK) << 1;
        if (OWN[at] == tid) {
            long counter = OWN[at + 1] + offset;
            U.putLong(null, counter, U.getLong(null, counter) + 1);
        } else {
            countFirst(tid, offset);
        }
    }

    /** Counts for a thread that has no counters of its own yet, or none at all. */
    @Hidden
    private static void countFirst(long tid, int offset) {
        long own = find(tid);
        if (own > 0) {
            U.putLong(null, own + offset, U.getLong(null, own + offset) + 1);
        } else {
            addShared(offset - own);
        }
    }

    @Hidden
    private static void addShared(long address) {
        long old;
        do {
            old = U.getLongVolatile(null, address);
        } while (!U.compareAndSetLong(null, address, old, old + 1));
    }

    @Hidden
    private static long find(long tid) {
        Class<?> parent = Thread.currentThread().getClass().getSuperclass();
        // A virtual thread may continue elsewhere at any time, so it has no counters of its own.
        if (tid == 0 || parent != null && parent == virtualThreads) {
            return shared;
        }
        long found = shard(tid);
        if (found > 0) {
            int at = ((int) tid & MASK) << 1;
            OWN[at + 1] = found;
            OWN[at] = tid;
        }
        return found;
    }

    // The JVM finds native methods by name in the agent's library.
    private static native long shard(long tid);

    // ---- receivers ------------------------------------------------------------------------------

    // A page has, for each counter of a call, the class of the first receiver: the class itself, or a
    // weak reference. Each element changes once.
    private static final int PAGE_SHIFT = 8 + 3;
    private static final int PAGE_CALLS = 1 << 8;
    @Stable private static final Object[][] FIRST = new Object[VeneerLayout.CALL_PAGES][];

    /** Classes of receivers, as in a page. The number of a class is its position. */
    private static final Object[] CLASSES = new Object[1 << VeneerLayout.RECEIVER_CLASS_BITS];

    private static final int MAX_PROBES = 64;

    /** The address of the table from calls and receivers to counters. */
    @Stable private static long pairs;

    private static final long PAGES = VeneerTexts.base(Object[].class);
    private static final int SCALE = U.arrayIndexScale(Object[].class);

    /** The headers of objects have no word of their own for the class. */
    private static final boolean COMPACT = VeneerTexts.base(byte[].class) < 16;

    /** Makes the pages of these counters. Called before code that uses them exists. */
    static void pages(int first, int count) {
        int last = first + count - 1 >> 8;
        for (int page = first >> 8; page <= last && page < FIRST.length; page++) {
            if (FIRST[page] == null) {
                Object[] made = new Object[PAGE_CALLS];
                U.compareAndSetReference(FIRST, PAGES + (long) page * SCALE, null, made);
            }
        }
    }

    /**
     * Counts a call on this object. The counter is that of the call's first receiver.
     *
     * <p>A large program spends most of its first minutes in the compilers of the JVM, and each copy of
     * this code would cost them time. So only calls that can be very frequent have one.
     */
    @Hidden
    @DontInline
    public static void call(Object receiver, int offset) {
        hotCall(receiver, offset);
    }

    /** As {@link #call}, for a call in a loop or in a small method. */
    @Hidden
    @ForceInline
    public static void hotCall(Object receiver, int offset) {
        if (receiver == null) {
            return;
        }
        Object[] page = FIRST[offset >>> PAGE_SHIFT];
        if (page != null) {
            Object first = page[offset >>> 3 & PAGE_CALLS - 1];
            Class<?> type = receiver.getClass();
            if (first == type || first instanceof WeakReference<?> && refers(first, type)) {
                count(offset);
                return;
            }
        }
        other(receiver, offset, page);
    }

    @Hidden
    @ForceInline
    @SuppressWarnings("unchecked")
    private static boolean refers(Object reference, Class<?> type) {
        return ((WeakReference<Object>) reference).refersTo(type);
    }

    @Hidden
    private static void other(Object receiver, int offset, Object[] page) {
        int number = number(receiver);
        if (number > 0 && page != null) {
            int i = offset >>> 3 & PAGE_CALLS - 1;
            Object type = CLASSES[number];
            if (page[i] == null && U.compareAndSetReference(page, PAGES + (long) i * SCALE, null, type)) {
                first(offset, number);
            }
            if (page[i] == type) {
                count(offset);
                return;
            }
        }
        // The counter at 0 has the calls whose receiver cannot be told.
        count(number > 0 ? pair(offset, number) : 0);
    }

    /** The counter of a call on objects of another class than the first one. */
    @Hidden
    private static int pair(int offset, int number) {
        long key = (long) offset << 32 | number;
        int at = hash(key);
        for (int probe = 0; probe < MAX_PROBES; probe++) {
            long place = pairs + ((long) (at + probe & VeneerLayout.RECEIVER_PAIRS - 1) << 4);
            long found = U.getLongVolatile(null, place);
            if (found == key) {
                return (int) U.getLongVolatile(null, place + 8);
            }
            if (found == 0) {
                return counter(offset, number);
            }
        }
        return 0;
    }

    static int hash(long key) {
        return (int) (key * 0x9E3779B97F4A7C15L >>> 40);
    }

    /** Enters a pair into the table. Returns its counter. */
    private static native int counter(int offset, int number);

    /** Enters the first receiver of a call into the table. */
    @Hidden
    private static void first(int offset, int number) {
        counter(~offset, number);
    }

    /** The number of the object's class; 0 if there is no room for another class. */
    @Hidden
    private static int number(Object receiver) {
        Class<?> type = receiver.getClass();
        // The word names the class. Another class can have it when the class is unloaded.
        int word = COMPACT ? (int) (U.getLong(receiver, 0L) >>> 42) : U.getInt(receiver, 8L);
        int at = word * 0x9E3779B1 >>> 32 - VeneerLayout.RECEIVER_CLASS_BITS;
        for (int probe = 0; probe < MAX_PROBES; probe++) {
            int number = at + probe & CLASSES.length - 1;
            Object known = CLASSES[number];
            if (known == null && number != 0 && add(type, number)) {
                return number;
            }
            known = CLASSES[number];
            if (known == type || known instanceof WeakReference<?> && refers(known, type)) {
                return number;
            }
        }
        return 0;
    }

    /** Gives a class a number, if the number is free. */
    @Hidden
    private static boolean add(Class<?> type, int number) {
        // The program does not make the calls of this method.
        long tid = U.getLong(Thread.currentThread(), TID);
        int at = ((int) tid & MASK) << 1;
        long own = OWN[at] == tid ? OWN[at + 1] : 0;
        if (own > 0) {
            OWN[at + 1] = unread;
        }
        try {
            Object known = isPermanent(type) ? type : new WeakReference<>(type);
            if (!U.compareAndSetReference(CLASSES, PAGES + (long) number * SCALE, null, known)) {
                return false;
            }
            named(number, type);
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        } finally {
            if (own > 0) {
                OWN[at + 1] = own;
            }
        }
    }

    /** Whether the class is never unloaded. */
    private static boolean isPermanent(Class<?> type) {
        Object loader = U.getReference(type, LOADER);
        return !type.isHidden()
                && !type.isArray()
                && (loader == null
                        || loader == jdk.internal.loader.ClassLoaders.platformClassLoader()
                        || loader == jdk.internal.loader.ClassLoaders.appClassLoader());
    }

    /** Writes the name of a class. */
    private static native void named(int number, Class<?> type);
}
