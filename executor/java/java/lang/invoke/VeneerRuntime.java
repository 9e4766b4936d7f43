package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.Stable;

/**
 * The methods that armed bodies and versions call. The class is in {@code java.lang.invoke}, so
 * every class loader finds it, the module graph needs no change, and the lookups that versions need
 * are accessible.
 *
 * <p>Emitted code names this class and its public methods, so their names and descriptors are fixed
 * ({@code fragmenter/src/runtime.rs}). Emitted code also reaches the methods of {@link VeneerEvents}
 * by the name of this class, because the JVM finds the static methods of a superclass. A method that
 * only called another class would cost the interpreter a frame at each event.
 *
 * <p>The agent calls {@link VeneerAgent}.
 */
public final class VeneerRuntime extends VeneerEvents {
    private VeneerRuntime() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    // ---- the executor loop ----------------------------------------------------------------------

    /**
     * The executor loop: runs the current version from the frame. If the version returns a frame,
     * the activation moves on to the version that is current then. Any other result is that of the
     * method.
     */
    @Hidden
    @LambdaForm.Compiled
    public static Object goL(VeneerFrame frame, VeneerCell cell) throws Throwable {
        for (;;) {
            Object result = (Object) cell.entry().invokeExact((Object) frame);
            if (!(result instanceof VeneerFrame)) {
                return result;
            }
            frame = (VeneerFrame) result;
        }
    }

    // The executor loop for each kind of result (go…), and for an activation that is about to
    // return and passes its result (exit…).

    @Hidden
    @LambdaForm.Compiled
    public static void goV(VeneerFrame frame, VeneerCell cell) throws Throwable {
        goL(frame, cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static int goI(VeneerFrame frame, VeneerCell cell) throws Throwable {
        return (Integer) goL(frame, cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static long goJ(VeneerFrame frame, VeneerCell cell) throws Throwable {
        return (Long) goL(frame, cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static float goF(VeneerFrame frame, VeneerCell cell) throws Throwable {
        return (Float) goL(frame, cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static double goD(VeneerFrame frame, VeneerCell cell) throws Throwable {
        return (Double) goL(frame, cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static void exitV(int point, VeneerCell cell) throws Throwable {
        goL(VeneerFrame.of(point), cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static int exitI(int result, int point, VeneerCell cell) throws Throwable {
        return (Integer) goL(VeneerFrame.of(result, point), cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static long exitJ(long result, int point, VeneerCell cell) throws Throwable {
        return (Long) goL(VeneerFrame.of(result, point), cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static float exitF(float result, int point, VeneerCell cell) throws Throwable {
        return (Float) goL(VeneerFrame.of(result, point), cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static double exitD(double result, int point, VeneerCell cell) throws Throwable {
        return (Double) goL(VeneerFrame.of(result, point), cell);
    }

    @Hidden
    @LambdaForm.Compiled
    public static Object exitL(Object result, int point, VeneerCell cell) throws Throwable {
        return goL(VeneerFrame.of(result, point), cell);
    }

    // ---- call sites of versions: bootstrap methods ----------------------------------------------

    /**
     * Binds an access that a nestmate may not make by itself, with the host's own lookup. {@code
     * type} is erased; {@code descriptor} names the classes. {@code kind} is a {@code BIND}
     * constant of {@link VeneerLayout}.
     */
    public static CallSite bind(
            MethodHandles.Lookup caller, String name, MethodType type, int kind, Class<?> owner, Class<?> host, String descriptor)
            throws Throwable {
        return VeneerLinker.bind(caller, name, type, kind, owner, host, descriptor);
    }

    /** Runs a bootstrap method of the host as the host would. See {@link VeneerLinker#relink}. */
    public static CallSite relink(
            MethodHandles.Lookup caller, String name, MethodType type, Class<?> host, String site, MethodHandle method, Object... arguments)
            throws Throwable {
        return VeneerLinker.relink(caller, name, type, host, site, method, arguments);
    }

    // ---- versions: stores to final fields -------------------------------------------------------

    /*
     * A version may not store to a final field by an instruction. Constructors do it all the time,
     * so the store must not need a call site, whose linking runs methods of the JDK. The offset is
     * a constant of the version. The JVM passes smaller kinds of integers as an int, and keeps the
     * bits of the field's kind.
     */

    @Hidden
    @ForceInline
    private static void nonNull(Object object) {
        if (object == null) {
            throw new NullPointerException();
        }
    }

    @Hidden
    @ForceInline
    public static void putFinalZ(Object object, int value, long offset) {
        nonNull(object);
        U.putBoolean(object, offset, (value & 1) != 0);
    }

    @Hidden
    @ForceInline
    public static void putFinalB(Object object, int value, long offset) {
        nonNull(object);
        U.putByte(object, offset, (byte) value);
    }

    @Hidden
    @ForceInline
    public static void putFinalC(Object object, int value, long offset) {
        nonNull(object);
        U.putChar(object, offset, (char) value);
    }

    @Hidden
    @ForceInline
    public static void putFinalS(Object object, int value, long offset) {
        nonNull(object);
        U.putShort(object, offset, (short) value);
    }

    @Hidden
    @ForceInline
    public static void putFinalI(Object object, int value, long offset) {
        nonNull(object);
        U.putInt(object, offset, value);
    }

    @Hidden
    @ForceInline
    public static void putFinalJ(Object object, long value, long offset) {
        nonNull(object);
        U.putLong(object, offset, value);
    }

    @Hidden
    @ForceInline
    public static void putFinalF(Object object, float value, long offset) {
        nonNull(object);
        U.putFloat(object, offset, value);
    }

    @Hidden
    @ForceInline
    public static void putFinalD(Object object, double value, long offset) {
        nonNull(object);
        U.putDouble(object, offset, value);
    }

    @Hidden
    @ForceInline
    public static void putFinalL(Object object, Object value, long offset) {
        nonNull(object);
        U.putReference(object, offset, value);
    }

    // ---- places in exceptions -------------------------------------------------------------------

    /**
     * Corrects the trace of an exception that passes through a version, or is caught in it. See
     * {@link VeneerBacktrace#locate}.
     *
     * <p>The parameter is an Object, because a handler can be a join of the normal and the
     * exceptional path. The stack map frame of such a handler names a supertype of Throwable, or an
     * interface.
     */
    @Hidden
    public static void locate(Object thrown, int bci, boolean exact, VeneerCell cell) {
        // VeneerWalk corrects all traces but those that the JVM makes without `fillInStackTrace`.
        if (bci < 0 || !VeneerBacktrace.READABLE || VeneerWalk.isOn() && !(thrown instanceof VirtualMachineError)) {
            return;
        }
        try {
            VeneerBacktrace.locate(thrown, bci, exact);
        } catch (Throwable e) {
            // The trace keeps the stub's line.
        }
    }

    // ---- the thread table -----------------------------------------------------------------------

    /**
     * Address of the thread table, which is off the heap: one row for each value of {@code tid &
     * MASK}, with the owner's tid, the address of its counter shard, and the address of its ring.
     * The agent writes the rows.
     */
    @Stable static long table;

    static final int MASK = VeneerLayout.THREAD_ROWS - 1;

    static void table(long address) {
        table = address;
    }

    /**
     * A copy of the first part of the thread table: two words for each value of {@code tid & MASK},
     * the owner's tid and the address of its counter shard. The copy is on the heap, so the
     * compiler knows that no counter is in it, and reads it once for many activations. The agent
     * clears an entry when its thread ends.
     */
    private static final long[] FOUND = new long[2 * VeneerLayout.THREAD_ROWS];

    static long[] found() {
        return FOUND;
    }

    // The JVM finds native methods by name in the agent's library. If the agent bound them, the JVM
    // would print a warning.
    private static native long shard(long tid, boolean virtual);

    // ---- counters -------------------------------------------------------------------------------

    /**
     * Address of the current thread's counter shard; the negative address of a shared shard if it
     * has none.
     */
    @ForceInline
    public static long shard() {
        long tid = U.getLong(Thread.currentThread(), TID);
        int at = ((int) tid & MASK) << 1;
        return FOUND[at] == tid ? FOUND[at + 1] : find(tid);
    }

    /**
     * Address of the current thread's counter shard, if the thread has counted in a shard of its
     * own; else 0. The negative address of a shard that nobody reads if the thread is the agent's.
     */
    @ForceInline
    static long known() {
        long tid = U.getLong(Thread.currentThread(), TID);
        int at = ((int) tid & MASK) << 1;
        return FOUND[at] == tid ? FOUND[at + 1] : 0;
    }

    private static long find(long tid) {
        long row = table + (tid & MASK) * VeneerLayout.THREAD_ROW_BYTES;
        boolean owned = U.getLong(row) == tid;
        long shard = owned ? U.getLong(row + VeneerLayout.THREAD_ROW_SHARD) : shard(tid, isVirtual());
        if (shard > 0 || owned) {
            int at = ((int) tid & MASK) << 1;
            FOUND[at + 1] = shard;
            FOUND[at] = tid;
        }
        return shard;
    }

    /** Whether the current thread is a virtual thread. */
    static boolean isVirtual() {
        Class<?> parent = Thread.currentThread().getClass().getSuperclass();
        return parent != null && parent.getName().equals("java.lang.BaseVirtualThread");
    }

    @ForceInline
    public static void count(long shard, int offset) {
        add(shard, offset, 1);
    }

    /** Counts, if a window of a sampled recording is open. {@code shard} is that of {@link #shardInWindow}. */
    @ForceInline
    public static void countInWindow(long shard, int offset) {
        if (shard > 0) {
            U.putLong(shard + offset, U.getLong(shard + offset) + 1);
        }
    }

    /**
     * The shard of the current thread if a window of a sampled recording is open; negative while its caches
     * fill; 0 outside the windows, and if the thread has no shard of its own.
     */
    @ForceInline
    public static long shardInWindow() {
        return VeneerMemory.state() == 0 ? 0 : VeneerMemory.shardInWindow();
    }

    /**
     * Counts, if this is one of the first {@code most} passes of all threads. {@code cell} is their
     * counter.
     */
    @ForceInline
    public static void countFirst(long shard, int offset, long cell, long most) {
        if (first(cell, most)) {
            add(shard, offset, 1);
        }
    }

    /**
     * Whether this pass is one of the first {@code most}, which {@code cell} counts. Later passes
     * write nothing.
     */
    @ForceInline
    static boolean first(long cell, long most) {
        return U.getLong(cell) < most && U.getAndAddLong(null, cell, 1) < most;
    }

    /** Undoes a count: an activation leaves a fragment at which it has just arrived. */
    @ForceInline
    public static void discount(long shard, int offset) {
        add(shard, offset, -1);
    }

    @ForceInline
    public static void add(long shard, int offset, long n) {
        if (shard > 0) {
            U.putLong(shard + offset, U.getLong(shard + offset) + n);
        } else {
            U.getAndAddLong(null, offset - shard, n);
        }
    }

    @ForceInline
    private static void max(long shard, int offset, long n) {
        if (shard > 0) {
            if (U.getLong(shard + offset) < n) {
                U.putLong(shard + offset, n);
            }
        } else {
            long old;
            do {
                old = U.getLong(offset - shard);
            } while (old < n && !U.compareAndSetLong(null, offset - shard, old, n));
        }
    }

    // ---- timers ---------------------------------------------------------------------------------

    /**
     * The current time of {@link VeneerClock}. Never 0, because 0 means that a timer is not
     * running.
     */
    @ForceInline
    public static long now() throws Throwable {
        long t = VeneerClock.now();
        return t != 0 ? t : 1;
    }

    /** Records the time since {@code start}, unless the timer was not running. */
    @ForceInline
    public static void stop(long shard, int offset, long start) throws Throwable {
        if (start != 0) {
            record(shard, offset, VeneerClock.between(start, VeneerClock.now()));
        }
    }

    /**
     * The state of a late timer in an activation. If the activation brings no state, it began
     * before the timer was attached: then the result is the negative time of the attachment, from
     * {@code cell}, or the negative current time while the cell is 0.
     */
    public static long since(long kept, long cell) {
        if (kept != 0) {
            return kept;
        }
        long moment = U.getLongVolatile(null, cell);
        return -(moment != 0 ? moment : System.nanoTime());
    }

    /**
     * Records a lower bound for the time of an activation that began before the attachment: see
     * {@link #since}.
     */
    @ForceInline
    public static void until(long shard, int offset, long start) {
        if (start < 0) {
            record(shard, offset, System.nanoTime() + start);
        }
    }

    /**
     * Records the time since {@code start}, unless the timer was not running, and starts the timer
     * again.
     */
    @ForceInline
    public static long lap(long shard, int offset, long start) throws Throwable {
        long now = now();
        if (start != 0) {
            record(shard, offset, VeneerClock.between(start, now));
        }
        return now;
    }

    /**
     * Adds a time to a timer's words: count, total, longest, and the complement of the shortest.
     */
    @ForceInline
    private static void record(long shard, int offset, long time) {
        add(shard, offset, 1);
        add(shard, offset + 8, time);
        max(shard, offset + 16, time);
        max(shard, offset + 24, Long.MAX_VALUE - time);
    }

    // ---- events ---------------------------------------------------------------------------------

    /** Begins an event, if this is one of the first {@code most} passes; else returns 0. */
    @ForceInline
    public static long beginFirst(int point, int values, long cell, long most) throws Throwable {
        return first(cell, most) ? begin(point, values) : 0;
    }
}
