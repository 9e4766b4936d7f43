package java.lang.invoke;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import jdk.internal.access.JavaLangAccess;
import jdk.internal.access.SharedSecrets;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.Stable;

/**
 * What armed bodies, versions and the agent call. It stands in {@code java.lang.invoke} so that every class loader finds
 * it, no module graph has to be changed, and the lookups that versions need are at hand.
 */
public final class VeneerRuntime {
    private VeneerRuntime() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    // ---- cells -------------------------------------------------------------------------------------------------------

    private static final int PAGE = 1 << 10;
    private static final AtomicReferenceArray<AtomicReferenceArray<WeakReference<VeneerCell>>> CELLS = new AtomicReferenceArray<>(1 << 14);
    private static final int GATES_PAGE = PAGE / VeneerGate.WIDTH;
    private static final AtomicReferenceArray<AtomicReferenceArray<WeakReference<VeneerGate>>> GATES = new AtomicReferenceArray<>(1 << 14);

    private static <T> AtomicReferenceArray<T> page(AtomicReferenceArray<AtomicReferenceArray<T>> pages, int number, int width) {
        AtomicReferenceArray<T> page = pages.get(number);
        if (page == null) {
            pages.compareAndSet(number, null, new AtomicReferenceArray<>(width));
            page = pages.get(number);
        }
        return page;
    }

    /** The gate before a method's cell; the cells keep it. */
    private static VeneerGate gate(int number) {
        AtomicReferenceArray<WeakReference<VeneerGate>> page = page(GATES, number / GATES_PAGE, GATES_PAGE);
        while (true) {
            WeakReference<VeneerGate> known = page.get(number % GATES_PAGE);
            VeneerGate gate = known == null ? null : known.get();
            if (gate != null) {
                return gate;
            }
            gate = new VeneerGate();
            if (page.compareAndSet(number % GATES_PAGE, known, new WeakReference<>(gate))) {
                return gate;
            }
        }
    }

    /**
     * The cell of a method, made when first asked for. It belongs to the anchor that asks: a cell refers to version classes,
     * and must not keep them, and with them the loader of the method, from being unloaded.
     */
    public static VeneerCell cell(int id) {
        AtomicReferenceArray<WeakReference<VeneerCell>> page = page(CELLS, id / PAGE, PAGE);
        while (true) {
            WeakReference<VeneerCell> known = page.get(id % PAGE);
            VeneerCell cell = known == null ? null : known.get();
            if (cell != null) {
                return cell;
            }
            cell = new VeneerCell(id, gate(id / VeneerGate.WIDTH));
            if (page.compareAndSet(id % PAGE, known, new WeakReference<>(cell))) {
                return cell;
            }
        }
    }

    /** The loader of these methods is gone, so their cells are. Fails where one is still there. */
    static void forget(int first, int end) {
        for (int id = first; id < end; id++) {
            AtomicReferenceArray<WeakReference<VeneerCell>> page = CELLS.get(id / PAGE);
            WeakReference<VeneerCell> known = page == null ? null : page.get(id % PAGE);
            if (known != null && (known.get() != null || !page.compareAndSet(id % PAGE, known, null))) {
                throw new IllegalStateException("the cell " + id + " is in use");
            }
        }
    }

    // ---- versions: called by the agent -----------------------------------------------------------------------------------

    static MethodHandle idleToken() {
        return VeneerCell.IDLE;
    }

    /**
     * A token for one version of one method, to which {@link #install} gives the version's instance; or, with offsets of counters,
     * for the armed body with these counters at its entry.
     */
    static MethodHandle token(int[] offsets) {
        return VeneerToken.make(offsets);
    }

    /** Hidden, a nestmate of the host, and with the JVM's own annotations honoured: those of {@link LambdaForm.Compiled}. */
    private static final int VERSION = 1 | 2 | 8;

    /**
     * Defines a version beside its host. {@code tokens}, {@code places} and the host become its class data. This is what {@code
     * Lookup.defineHiddenClassWithClassData} does, but for the last flag: the bodies of a version bear {@code
     * LambdaForm.Compiled}, so that methods that ask who calls them ({@code Class.forName}, {@code Method.invoke} …) look
     * through its frames and see the host.
     */
    static Class<?> define(Class<?> host, String name, byte[] bytes, MethodHandle[] tokens, int[] places) {
        VeneerWalk.patched(host);
        JavaLangAccess lang = SharedSecrets.getJavaLangAccess();
        Object data = new Object[] {tokens, places, host, MINE};
        Class<?> version =
                lang.defineClass(host.getClassLoader(), host, name, bytes, lang.protectionDomain(host), false, VERSION, data);
        // Places are those of the methods in order, each with the method's id first.
        for (int i = 0, at = 0; i < tokens.length; i++, at += 2 + places[at + 1]) {
            fill(version, "t" + places[at], tokens[i]);
        }
        U.ensureClassInitialized(version);
        return version;
    }

    /** Fills the cells of an anchor and initialises it. */
    static void anchor(Class<?> anchor, int[] ids) {
        for (int id : ids) {
            fill(anchor, "c" + id, cell(id));
        }
        U.ensureClassInitialized(anchor);
    }

    /**
     * Sets a {@code static final} field of a class that is not initialised yet. The class's own initialiser would look up the classes
     * of the fields through the loader of the class, which may be the application's code.
     */
    private static void fill(Class<?> of, String field, Object value) {
        U.putReference(of, U.objectFieldOffset(of, field), value);
    }

    /** In the class data of versions, and nowhere else. */
    private static final Object MINE = new Object();

    /** The class data of a version: tokens, places, host; null for any other class. */
    static Object[] data(Class<?> version) {
        return SharedSecrets.getJavaLangAccess().classData(version) instanceof Object[] data && data.length == 4 && data[3] == MINE
                ? data
                : null;
    }

    /** See {@link VeneerWalk#place}. */
    static long place(Class<?> version, String method, int bci) {
        return VeneerWalk.place(version, method, bci);
    }

    /**
     * Makes a version the one that new activations enter, and the one that running activations go to. Without a version, new
     * activations run the armed body, as the token says.
     */
    static void install(int id, Class<?> version, MethodHandle token) throws InstantiationException {
        VeneerCell cell = cell(id);
        if (version == null) {
            cell.turn(token);
            return;
        }
        // Armed bodies call the version's methods on this instance. It has no state, and its class no constructor.
        Object body = U.allocateInstance(version);
        VeneerToken.of(token).body = body;
        cell.last = body;
        cell.turn(token);
    }

    /** Gives a version's (or, with IDLE, the clean version's) way in for running activations. */
    static void installResume(int id, Class<?> version, MethodHandle token, String body) throws Throwable {
        VeneerCell cell = cell(id);
        // For a type that is not erased, the lookup would ask the loader of the version whether it knows the classes.
        MethodType erased = MethodType.methodType(Object.class, Object.class);
        cell.resume = MethodHandles.Lookup.IMPL_LOOKUP.findStatic(version, body, erased);
        cell.resumeToken = token;
    }

    /** Back to the armed body. */
    static void idle(int id) {
        cell(id).turn(VeneerCell.IDLE);
    }

    /** Before many cells behind a gate change. Each call needs one of {@link #open}. */
    static void shut(int gate) {
        gate(gate).shut();
    }

    /** After many cells behind a gate have changed. */
    static void open(int gate) {
        gate(gate).open();
    }

    /**
     * Initialises what code of plans calls, before there is any: an application's thread that comes to it first may have no stack left for that, and then the class
     * could never be used.
     */
    static void prepare() {
        Class<?>[] called = {VeneerProbe.class, VeneerTables.class, VeneerTexts.class, VeneerThreads.class, VeneerObjects.class};
        for (Class<?> one : called) {
            U.ensureClassInitialized(one);
        }
    }

    static Class<?> loaded(Class<?> by, String name) throws Throwable {
        return VeneerProbe.loaded(by, name);
    }

    static long type(Class<?> type) {
        return VeneerProbe.type(type);
    }

    static String unreachable(Class<?> by, Class<?> type, int accessed) throws Throwable {
        return VeneerProbe.unreachable(by, type, accessed != 0);
    }

    static long texts(long places) {
        return VeneerTexts.make(places);
    }

    static long objects(long most) {
        return VeneerObjects.make(most);
    }

    static long withValue(long table) {
        return VeneerObjects.size(table);
    }

    static long withoutPlace(long table) {
        return VeneerObjects.lost(table);
    }

    /** The agent leaves: nothing of the application is kept here any more. */
    static void forgetAll() {
        VeneerTexts.forget();
        VeneerObjects.forget();
    }

    static void keep(long table, long places) {
        VeneerThreads.keep(table, places);
    }

    static long offset(Class<?> declaring, String field) {
        return U.objectFieldOffset(declaring, field);
    }

    // ---- armed bodies ------------------------------------------------------------------------------------------------------

    /** What linking a call site may take, and much more than a frame does. */
    private static final int LINKING = 1 << 18;
    /** If less than a part of this size of the heap is free, an allocation finds out whether there is room. */
    private static final int ENOUGH_PART = 2;
    /** After room was found, no other thread looks for it for this many nanoseconds. */
    private static final long STAYS_FREE = 10_000_000L;
    /** After no room was found, nobody looks for it for this many nanoseconds: each attempt is a collection. */
    private static final long STAYS_FULL = 100_000_000L;

    /**
     * Runs what an activation runs on its way once. The JVM allocates objects when it links a call of a method handle; an activation
     * that comes to it first on a full heap would fail there.
     */
    private static void link() throws Throwable {
        VeneerReserve.put(VeneerReserve.take(null));
        U.ensureClassInitialized(VeneerLinker.class);
        VeneerClock.link();
        VeneerCell nowhere = new VeneerCell(-1, new VeneerGate());
        MethodType erased = MethodType.methodType(Object.class, Object.class);
        nowhere.resume = MethodHandles.Lookup.IMPL_LOOKUP.findStatic(VeneerRuntime.class, "arrives", erased);
        goL(VeneerFrame.of(0), nowhere);
    }

    private static Object arrives(Object frame) {
        return null;
    }

    private static volatile long freeUntil;
    private static volatile long fullUntil;
    private static volatile Object tried;

    /**
     * Whether the heap has room for leaving an armed body (or a version). Where it has not, the activation stays where it is,
     * as if nothing were attached: an {@code OutOfMemoryError} that the application would not have met must not come from here.
     */
    @Hidden
    static boolean hasRoom() {
        Runtime runtime = Runtime.getRuntime();
        long most = runtime.maxMemory();
        // Much of what is free may be of no use: a region of G1 with one large array has no room for another.
        if (most - runtime.totalMemory() + runtime.freeMemory() > most / ENOUGH_PART) {
            return true;
        }
        long now = System.nanoTime();
        long free = freeUntil;
        if (free != 0 && now - free < 0) {
            return true;
        }
        long full = fullUntil;
        if (full != 0 && now - full < 0) {
            return false;
        }
        try {
            tried = new byte[LINKING];
            tried = null;
            freeUntil = now + STAYS_FREE | 1;
            return true;
        } catch (OutOfMemoryError e) {
            freeUntil = 0;
            fullUntil = System.nanoTime() + STAYS_FULL | 1;
            return false;
        }
    }

    /** So much of the heap, or of a small heap so large a part, is free when cells change. */
    private static final long FREE = 1 << 23;
    private static final int PART = 8;

    /**
     * Whether the heap has room for a change of cells. The JVM gives up compiled code then, and allocates the objects that the code kept in
     * registers. Where there is no memory for one of them it drops the frame without looking at its handlers (JDK-8270010). {@code allocate}: free
     * memory that is still taken by garbage is looked for, too.
     */
    static long roomToChange(long allocate) {
        Runtime runtime = Runtime.getRuntime();
        long most = runtime.maxMemory();
        long wanted = Math.min(FREE, most / PART);
        if (most - runtime.totalMemory() + runtime.freeMemory() > wanted) {
            return 1;
        }
        if (allocate == 0) {
            return 0;
        }
        try {
            tried = new byte[(int) wanted];
            tried = null;
            return 1;
        } catch (OutOfMemoryError e) {
            return 0;
        }
    }

    /** The executor loop: runs the current version from the frame; a frame that comes back is an activation that moves on. */
    @Hidden
    @LambdaForm.Compiled
    public static Object goL(VeneerFrame frame, VeneerCell cell) throws Throwable {
        for (;;) {
            Object result = (Object) cell.resume.invokeExact((Object) frame);
            if (!(result instanceof VeneerFrame)) {
                return result;
            }
            frame = (VeneerFrame) result;
        }
    }

    // The executor loop for each kind of result, and for an activation that stands before a return and brings its result.

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

    // Natives are found by name in the agent's library: binding them by hand would make the JVM print a warning.
    static native void request(int id);

    /** Does nothing; fails as long as the JVM does not look for natives in the agent's library. */
    static native void linked();

    // ---- call sites of versions: bootstrap methods -------------------------------------------------

    /**
     * Binds an access that a nestmate may not make by itself, with the host's own lookup. {@code type} is
     * erased; {@code descriptor} names the classes. {@code kind} is a {@code BIND} constant of
     * {@link VeneerLayout}.
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

    // ---- exceptions: the host's line ------------------------------------------------------------------------------------------

    static final long BACKTRACE = U.objectFieldOffset(Throwable.class, "backtrace");
    static final boolean READABLE = readable();

    /**
     * What the JVM writes into {@code Throwable.backtrace}: method numbers, bci and version, mirrors, names, (continuations,)
     * next chunk, mark for hidden frames on top.
     */
    private static boolean readable() {
        try {
            Object[] chunk = (Object[]) U.getReference(new Throwable(), BACKTRACE);
            return (chunk.length == 6 || chunk.length == 7) && chunk[0] instanceof short[] && chunk[1] instanceof int[] && ((Object[]) chunk[2])[0] == VeneerRuntime.class;
        } catch (Throwable e) {
            return false;
        }
    }

    /**
     * An exception passes through a version, or is caught in it. Frames of hidden classes do not show in stack traces; the
     * host's does, at its stub. Here its place is set to {@code bci}, where the host would have been ({@code exact}: to the
     * instruction, else only to the line).
     *
     * <p>The parameter is an Object, because a handler can be a join of the normal and the exceptional path. The stack map frame
     * of such a handler names a supertype of Throwable, or an interface.
     */
    @Hidden
    public static void locate(Object thrown, int bci, boolean exact, VeneerCell cell) {
        // Where traces are put right when they are made, only those that the JVM makes without `fillInStackTrace` are left.
        if (bci < 0 || !READABLE || VeneerWalk.isOn() && !(thrown instanceof VirtualMachineError)) {
            return;
        }
        try {
            Object[] chunk = (Object[]) U.getReference(thrown, BACKTRACE);
            if (chunk == null) {
                return;
            }
            // The first visible frame of a trace made here is the host's.
            Object[] here = (Object[]) U.getReference(new VeneerMark(), BACKTRACE);
            int first = ((Object[]) here[2])[0] == VeneerRuntime.class ? 1 : 0;
            short method = ((short[]) here[0])[first];
            int at = ((int[]) here[1])[first];
            Object mirror = ((Object[]) here[2])[first];
            Object[] top = chunk;
            for (; chunk != null; chunk = (Object[]) chunk[chunk.length - 2]) {
                short[] methods = (short[]) chunk[0];
                int[] bcis = (int[]) chunk[1];
                Object[] mirrors = (Object[]) chunk[2];
                for (int i = 0; i < methods.length; i++) {
                    if (bcis[i] == at && methods[i] == method && mirrors[i] == mirror) {
                        bcis[i] = bci << 16 | at & 0xFFFF;
                        if (i == 0 && chunk == top && exact) {
                            // Thrown by the version itself: with the exact place, the JVM can explain a null pointer. What
                            // says that it cannot is a mark for hidden frames on top.
                            chunk[chunk.length - 1] = null;
                        }
                        return;
                    }
                }
            }
        } catch (Throwable e) {
            // The trace keeps the stub's line.
        }
    }

    // ---- the data plane ----------------------------------------------------------------------------------------------------------

    /**
     * Off-heap table of thread shards, one row of 32 bytes for each value of {@code tid & mask}: owner's tid, address of its
     * counters, address of its ring. Written by the agent.
     */
    @Stable private static long table;

    private static final int MASK = VeneerLayout.THREAD_ROWS - 1;

    static void table(long address) throws Throwable {
        link();
        table = address;
    }

    /**
     * What a thread found in its row, again: two words for each value of {@code tid & MASK}, owner's tid and address of its counters.
     * On the heap, so that the compiler knows that no counter lies in it, and reads it once for many activations. The agent takes
     * an entry out when its thread ends.
     */
    private static final long[] FOUND = new long[2 * VeneerLayout.THREAD_ROWS];

    static long[] found() {
        return FOUND;
    }

    private static native long shard(long tid, boolean virtual);

    private static native long ring(long tid);

    private static native void dropped(int point);

    /** The current thread's counters; negative for those shared by threads that have none of their own. */
    @ForceInline
    public static long shard() {
        long tid = U.getLong(Thread.currentThread(), TID);
        int at = ((int) tid & MASK) << 1;
        return FOUND[at] == tid ? FOUND[at + 1] : find(tid);
    }

    /** The same for a thread that has counted before; 0 where it has no counters of its own, or was not asked for them yet. */
    @ForceInline
    static long known() {
        long tid = U.getLong(Thread.currentThread(), TID);
        int at = ((int) tid & MASK) << 1;
        return FOUND[at] == tid ? FOUND[at + 1] : 0;
    }

    private static long find(long tid) {
        long row = table + (tid & MASK) * VeneerLayout.THREAD_ROW_BYTES;
        long shard = U.getLong(row) == tid ? U.getLong(row + VeneerLayout.THREAD_ROW_SHARD) : shard(tid, isVirtual());
        if (shard > 0) {
            int at = ((int) tid & MASK) << 1;
            FOUND[at + 1] = shard;
            FOUND[at] = tid;
        }
        return shard;
    }

    private static boolean isVirtual() {
        Class<?> parent = Thread.currentThread().getClass().getSuperclass();
        return parent != null && parent.getName().equals("java.lang.BaseVirtualThread");
    }

    @ForceInline
    public static void count(long shard, int offset) {
        add(shard, offset, 1);
    }

    /** Counts as long as fewer than so many have come to the cell, from whichever thread. */
    @ForceInline
    public static void countFirst(long shard, int offset, long cell, long most) {
        if (first(cell, most)) {
            add(shard, offset, 1);
        }
    }

    /** Whether this is among the first so many that come to a cell. Once it is full, nothing is written to it. */
    @ForceInline
    static boolean first(long cell, long most) {
        return U.getLong(cell) < most && U.getAndAddLong(null, cell, 1) < most;
    }

    /** Begins an event, if it is among the first so many that come to the cell. */
    @ForceInline
    public static long beginFirst(int point, int values, long cell, long most) throws Throwable {
        return first(cell, most) ? begin(point, values) : 0;
    }

    /** Takes a count back: an activation leaves a place at which it has just arrived. */
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

    /**
     * Timers read the function at this address from now on, where it can be called at little cost. Its ticks take so many nanoseconds, times
     * 2⁶²; at one moment it says {@code ticks}, and {@code System.nanoTime()} {@code nanos}.
     */
    static void clock(long address, long ticks, long nanos, long scale) throws Throwable {
        MethodHandle counter = VeneerTicks.at(address);
        if (counter != null) {
            VeneerClock.change(counter, ticks, nanos, scale);
        }
    }

    /** The moment, by {@link VeneerClock}; never 0: 0 says that a timer is not running. */
    @ForceInline
    public static long now() throws Throwable {
        long t = VeneerClock.now();
        return t != 0 ? t : 1;
    }

    /** Records the time since {@code start}: count, total, longest, and the shortest as its complement. */
    @ForceInline
    public static void stop(long shard, int offset, long start) throws Throwable {
        if (start != 0) {
            record(shard, offset, VeneerClock.between(start, VeneerClock.now()));
        }
    }

    /**
     * The state of a timer with which an activation has come. Where it has none, the activation began before the moment that the cell says, or before
     * now as long as that says none; such a moment goes below zero.
     */
    public static long since(long kept, long cell) {
        if (kept != 0) {
            return kept;
        }
        long moment = U.getLongVolatile(null, cell);
        return -(moment != 0 ? moment : System.nanoTime());
    }

    /** Records how long an activation has run at least that began before a moment: see {@link #since}. */
    @ForceInline
    public static void until(long shard, int offset, long start) {
        if (start < 0) {
            record(shard, offset, System.nanoTime() + start);
        }
    }

    @ForceInline
    public static long lap(long shard, int offset, long start) throws Throwable {
        long now = now();
        if (start != 0) {
            record(shard, offset, VeneerClock.between(start, now));
        }
        return now;
    }

    @ForceInline
    private static void record(long shard, int offset, long time) {
        add(shard, offset, 1);
        add(shard, offset + 8, time);
        max(shard, offset + 16, time);
        max(shard, offset + 24, Long.MAX_VALUE - time);
    }

    // Ring: head(8) tail(8) -(8) size(8), then data. An event: length(4) point(4) time(8) tid(8) -(8), then values:
    // kind(8), word(8) or length(8) and chars padded to 8. Lengths are multiples of 8; head and tail only grow.
    private static final int HEADER = VeneerLayout.RING_HEADER;
    private static final int TEXT = VeneerLayout.EVENT_TEXT;

    /**
     * {@code Thread.currentCarrierThread()} where there are virtual threads. A ring belongs to a carrier: between the begin
     * and the end of an event nothing blocks, so a virtual thread stays where it is.
     */
    private static final MethodHandle CARRIER = carrier();

    private static MethodHandle carrier() {
        try {
            return MethodHandles.Lookup.IMPL_LOOKUP.findStatic(
                    Thread.class, "currentCarrierThread", MethodType.methodType(Thread.class));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    /** The current carrier's ring; 0 where it has none yet. */
    private static long ring(boolean make) throws Throwable {
        Thread carrier = CARRIER != null ? (Thread) CARRIER.invokeExact() : Thread.currentThread();
        long tid = U.getLong(carrier, TID);
        long row = table + (tid & MASK) * VeneerLayout.THREAD_ROW_BYTES;
        long ring = U.getLong(row) == tid ? U.getLong(row + VeneerLayout.THREAD_ROW_RING) : 0;
        return ring != 0 || !make ? ring : ring(tid);
    }

    /** Begins an event; 0 where there is no room. */
    public static long begin(int point, int values) throws Throwable {
        long ring = ring(true);
        if (ring <= 0) {
            dropped(point);
            return 0;
        }
        long head = U.getLong(ring + VeneerLayout.RING_HEAD);
        long size = U.getLong(ring + VeneerLayout.RING_CAPACITY);
        long need = VeneerLayout.EVENT_HEADER + values * (VeneerLayout.EVENT_VALUE + 2L * TEXT);
        long at = head % size;
        long skip = at + need > size ? size - at : 0;
        if (head + skip + need - U.getLongVolatile(null, ring + VeneerLayout.RING_TAIL) > size) {
            dropped(point);
            return 0;
        }
        if (skip != 0) {
            U.putInt(ring + HEADER + at, 0);
            head += skip;
            U.putLongRelease(null, ring + VeneerLayout.RING_HEAD, head);
            at = 0;
        }
        long event = ring + HEADER + at;
        U.putInt(event + VeneerLayout.EVENT_POINT, point);
        U.putLong(event + VeneerLayout.EVENT_TIME, System.nanoTime());
        U.putLong(event + VeneerLayout.EVENT_THREAD, U.getLong(Thread.currentThread(), TID));
        return event + VeneerLayout.EVENT_HEADER;
    }

    public static long put(long at, int value) {
        return put(at, VeneerLayout.VALUE_INT, value);
    }

    public static long put(long at, long value) {
        return put(at, VeneerLayout.VALUE_INT, value);
    }

    public static long put(long at, float value) {
        return put(at, VeneerLayout.VALUE_FLOAT, Double.doubleToRawLongBits(value));
    }

    public static long put(long at, double value) {
        return put(at, VeneerLayout.VALUE_FLOAT, Double.doubleToRawLongBits(value));
    }

    private static long put(long at, long kind, long word) {
        if (at == 0) {
            return 0;
        }
        U.putLong(at, kind);
        U.putLong(at + 8, word);
        return at + VeneerLayout.EVENT_VALUE;
    }

    /** A string by its first characters; any other object by its class and identity. Calls nothing of the application. */
    public static long put(long at, Object value) {
        if (at == 0) {
            return 0;
        }
        if (value == null) {
            return put(at, VeneerLayout.VALUE_NULL, 0);
        }
        String text = value instanceof String s ? s : value.getClass().getName();
        int n = Math.min(text.length(), TEXT);
        U.putLong(at, value instanceof String ? VeneerLayout.VALUE_STRING : VeneerLayout.VALUE_OBJECT);
        U.putLong(at + 8, value instanceof String ? n : n | (long) System.identityHashCode(value) << 32);
        for (int i = 0; i < n; i++) {
            U.putChar(at + VeneerLayout.EVENT_VALUE + 2L * i, text.charAt(i));
        }
        return at + VeneerLayout.EVENT_VALUE + (2L * n + 7) / 8 * 8;
    }

    /** Hands the event over. It begins where the ring's head stands. */
    public static void end(long at) throws Throwable {
        long ring = at == 0 ? 0 : ring(false);
        if (ring <= 0) {
            return;
        }
        long head = U.getLong(ring + VeneerLayout.RING_HEAD);
        long start = ring + HEADER + head % U.getLong(ring + VeneerLayout.RING_CAPACITY);
        U.putInt(start, (int) (at - start));
        U.putLongRelease(null, ring + VeneerLayout.RING_HEAD, head + (at - start));
    }
}
