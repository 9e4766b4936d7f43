package java.lang.invoke;

import java.lang.ref.WeakReference;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicReferenceArray;
import jdk.internal.access.JavaLangAccess;
import jdk.internal.access.SharedSecrets;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.Stable;

/**
 * The methods that armed bodies, versions and the agent call. The class is in {@code
 * java.lang.invoke}, so every class loader finds it, the module graph needs no change, and the
 * lookups that versions need are accessible.
 *
 * <p>Emitted code names this class and its public methods, so their names and descriptors are fixed
 * ({@code fragmenter/src/runtime.rs}). The agent calls the package-private methods ({@code
 * executor/src/jvm/java_runtime.rs}).
 */
public final class VeneerRuntime {
    private VeneerRuntime() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    // ---- cells ----------------------------------------------------------------------------------

    /** Number of cells in a page. */
    private static final int PAGE = 1 << 10;
    /** Pages of weak references to cells, by method id. */
    private static final AtomicReferenceArray<AtomicReferenceArray<WeakReference<VeneerCell>>> CELLS = new AtomicReferenceArray<>(1 << 14);
    /** Number of gates in a page. */
    private static final int GATES_PAGE = PAGE / VeneerGate.WIDTH;
    /** Pages of weak references to gates, by method id divided by the width of a gate. */
    private static final AtomicReferenceArray<AtomicReferenceArray<WeakReference<VeneerGate>>> GATES = new AtomicReferenceArray<>(1 << 14);

    private static <T> AtomicReferenceArray<T> page(AtomicReferenceArray<AtomicReferenceArray<T>> pages, int number, int width) {
        AtomicReferenceArray<T> page = pages.get(number);
        if (page == null) {
            pages.compareAndSet(number, null, new AtomicReferenceArray<>(width));
            page = pages.get(number);
        }
        return page;
    }

    /** The gate with this number, created when first asked for. Its cells keep it reachable. */
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
     * The cell of a method, created when first asked for. Only the anchor keeps the cell reachable:
     * the cell refers to version classes, and must not prevent the method's class loader from being
     * unloaded.
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

    /**
     * Removes the entries of cells whose methods are unloaded. Fails if one of the cells is still
     * reachable.
     */
    static void forget(int first, int end) {
        for (int id = first; id < end; id++) {
            AtomicReferenceArray<WeakReference<VeneerCell>> page = CELLS.get(id / PAGE);
            WeakReference<VeneerCell> known = page == null ? null : page.get(id % PAGE);
            if (known != null && (known.get() != null || !page.compareAndSet(id % PAGE, known, null))) {
                throw new IllegalStateException("the cell " + id + " is in use");
            }
        }
    }

    // ---- versions: called by the agent ----------------------------------------------------------

    static MethodHandle idleToken() {
        return VeneerCell.IDLE;
    }

    /**
     * A new token. Without offsets, the token is for one version of one method, and {@link
     * #install} sets the version's instance. With offsets of counters, the token is for the armed
     * body with these counters at its entry.
     */
    static MethodHandle token(int[] offsets) {
        return VeneerToken.make(offsets);
    }

    /**
     * Flags of {@code JavaLangAccess.defineClass}: a hidden class, a nestmate of the host, and a
     * class whose JVM-internal annotations such as {@link LambdaForm.Compiled} apply.
     */
    private static final int VERSION = 1 | 2 | 8;

    /**
     * Defines a version as a nestmate of its host. {@code tokens}, {@code places} and the host
     * become its class data. {@code finals} names the final fields of the host to which the version
     * stores (see {@link VeneerLinker#fillOffsets}), and {@code bound} the members that it uses
     * through method handles ({@link VeneerLinker#fillHandles}). Except for the last flag, this equals {@code
     * Lookup.defineHiddenClassWithClassData}. The bodies of a version have the annotation {@code
     * LambdaForm.Compiled}, so caller-sensitive methods ({@code Class.forName}, {@code
     * Method.invoke} …) skip its frames and see the host.
     */
    static Class<?> define(Class<?> host, String name, byte[] bytes, MethodHandle[] tokens, int[] places, String finals, String bound)
            throws Throwable {
        VeneerWalk.patched(host);
        JavaLangAccess lang = SharedSecrets.getJavaLangAccess();
        Object data = new Object[] {tokens, places, host, MINE};
        Class<?> version =
                lang.defineClass(host.getClassLoader(), host, name, bytes, lang.protectionDomain(host), false, VERSION, data);
        // For each method in order, `places` has the id, the number of places, and the places.
        for (int i = 0, at = 0; i < tokens.length; i++, at += 2 + places[at + 1]) {
            fill(version, "t" + places[at], tokens[i]);
        }
        if (!finals.isEmpty()) {
            VeneerLinker.fillOffsets(host, version, finals);
        }
        if (!bound.isEmpty()) {
            VeneerLinker.fillHandles(host, version, bound);
        }
        U.ensureClassInitialized(version);
        return version;
    }

    /**
     * Defines an anchor in the loader of its host and with the host's protection domain. A class of
     * another domain would have to be admitted to the host's domain when the host refers to it, and
     * JDK 17 takes the lock of the loader for that.
     */
    static Class<?> defineAnchor(ClassLoader loader, String name, byte[] bytes, ProtectionDomain domain) {
        return SharedSecrets.getJavaLangAccess().defineClass(loader, name, bytes, domain, null);
    }

    /** Sets the fields of an anchor to the cells of its methods, and initialises the anchor. */
    static void anchor(Class<?> anchor, int[] ids) {
        for (int id : ids) {
            fill(anchor, "c" + id, cell(id));
        }
        U.ensureClassInitialized(anchor);
    }

    /**
     * Sets a {@code static final} field of a class before its initialisation. An initialiser of the
     * class itself would look up the field's class through the class loader, which may be code of
     * the application.
     */
    private static void fill(Class<?> of, String field, Object value) {
        U.putReference(of, U.objectFieldOffset(of, field), value);
    }

    /** Marks the class data of versions. No other class has this object. */
    private static final Object MINE = new Object();

    /** The class data of a version: tokens, places, host, mark. Null for any other class. */
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
     * Makes a version the current one: new activations enter it, and running activations move to
     * it. If {@code version} is null, new activations run the armed body with the counters of the
     * token.
     */
    static void install(int id, Class<?> version, MethodHandle token) throws InstantiationException {
        VeneerCell cell = cell(id);
        if (version == null) {
            cell.turn(token);
            return;
        }
        // Armed bodies call the version's methods on this instance, which has no state. Its class
        // has no constructor.
        VeneerToken.of(token).body = U.allocateInstance(version);
        cell.turn(token);
    }

    /**
     * Sets the OSR entry of a version for running activations. With IDLE, that of the clean
     * version.
     */
    static void installResume(int id, Class<?> version, MethodHandle token, String body) throws Throwable {
        VeneerCell cell = cell(id);
        // With a type that is not erased, the lookup would ask the version's class loader for the
        // classes.
        MethodType erased = MethodType.methodType(Object.class, Object.class);
        cell.accept(MethodHandles.Lookup.IMPL_LOOKUP.findStatic(version, body, erased), token);
    }

    /** See {@link VeneerCell#release}. */
    static void releaseResume(int id) {
        cell(id).release();
    }

    /** Switches a method back to its armed body. */
    static void idle(int id) {
        cell(id).turn(VeneerCell.IDLE);
    }

    /** Called before many cells behind a gate change. Each call needs a call of {@link #open}. */
    static void shut(int gate) {
        gate(gate).shut();
    }

    /** Called after many cells behind a gate have changed. */
    static void open(int gate) {
        gate(gate).open();
    }

    /**
     * Initialises the classes that probes call, before the first probe runs. An application thread
     * with a full stack might fail to initialise them, and then no thread could ever use them.
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

    static void clearTexts(long row) {
        VeneerTexts.clear(row);
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

    /** Drops every string and object of the application. Called when the agent unloads. */
    static void forgetAll() {
        VeneerTexts.forget();
        VeneerObjects.forget();
    }

    static void keep(long table, long places) {
        VeneerThreads.keep(table, places);
    }

    static long offset(Class<?> declaring, String name, String descriptor) throws ClassNotFoundException {
        return VeneerLinker.offset(declaring, name, descriptor);
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

    // ---- armed bodies ---------------------------------------------------------------------------

    /** Bytes that linking a call site may allocate. A frame needs far less. */
    private static final int LINKING = 1 << 18;
    /**
     * If less than the heap divided by this number is free, a trial allocation decides whether
     * there is room.
     */
    private static final int ENOUGH_PART = 2;
    /**
     * After a successful trial allocation, no thread makes another one for this many nanoseconds.
     */
    private static final long STAYS_FREE = 10_000_000L;
    /**
     * After a failed one, no thread makes another one for this many nanoseconds: each failure is a
     * collection.
     */
    private static final long STAYS_FULL = 100_000_000L;

    /**
     * Runs the code once that moves an activation to a version, and initialises {@link
     * VeneerLinker}. The JVM allocates objects when it links a call of a method handle, and such a
     * first call would fail on a full heap.
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
     * Whether the heap has room for an activation to leave an armed body or a version. If it has
     * not, the activation stays in its code, as if nothing were attached. So Veneer causes no
     * {@code OutOfMemoryError} that the application would not have met.
     */
    @Hidden
    static boolean hasRoom() {
        Runtime runtime = Runtime.getRuntime();
        long most = runtime.maxMemory();
        // Free memory may be unusable: a G1 region that a large array fills partly has no room for
        // another one.
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

    /**
     * Cells change only if this many bytes are free, or, in a small heap, the heap divided by
     * {@link #PART}.
     */
    private static final long FREE = 1 << 23;
    private static final int PART = 8;

    /**
     * Whether the heap has room for a change of cells: 1 or 0. A change deoptimises compiled code,
     * and the JVM allocates the objects that the code kept in registers. If it cannot allocate one
     * of them, it drops the frame without looking at its handlers (JDK-8270010). If {@code
     * allocate} is not 0, a trial allocation makes the JVM collect garbage.
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

    // The JVM finds native methods by name in the agent's library. If the agent bound them, the JVM
    // would print a warning.
    static native void request(int id);

    /** Does nothing. Fails until the JVM looks for native methods in the agent's library. */
    static native void linked();

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

    // ---- exceptions: the host's line ------------------------------------------------------------

    static final long BACKTRACE = U.objectFieldOffset(Throwable.class, "backtrace");
    static final boolean READABLE = readable();

    /**
     * Whether {@code Throwable.backtrace} has the known layout. It is an array with method numbers,
     * bci and version, mirrors, names, the next chunk, and a mark for a hidden top frame. Newer
     * JDKs have continuations before the next chunk.
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
     * Corrects the trace of an exception that passes through a version, or is caught in it. Stack
     * traces omit frames of hidden classes, and show the host's frame at its stub. This method sets
     * the position of that frame to {@code bci}, where the host would have been: to the instruction
     * if {@code exact}, else only to the line.
     *
     * <p>The parameter is an Object, because a handler can be a join of the normal and the
     * exceptional path. The stack map frame of such a handler names a supertype of Throwable, or an
     * interface.
     */
    @Hidden
    public static void locate(Object thrown, int bci, boolean exact, VeneerCell cell) {
        // VeneerWalk corrects all traces but those that the JVM makes without `fillInStackTrace`.
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
                            // The version itself threw the exception. With the exact position, the
                            // JVM can explain a null pointer. The mark for a hidden top frame would
                            // prevent that.
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

    // ---- the data plane -------------------------------------------------------------------------

    /**
     * Address of the thread table, which is off the heap: one row for each value of {@code tid &
     * MASK}, with the owner's tid, the address of its counter shard, and the address of its ring.
     * The agent writes the rows.
     */
    @Stable private static long table;

    private static final int MASK = VeneerLayout.THREAD_ROWS - 1;

    static void table(long address) throws Throwable {
        link();
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

    private static native long shard(long tid, boolean virtual);

    private static native long ring(long tid);

    private static native void dropped(int point);

    /**
     * Address of the current thread's counter shard; the negative address of the shared shard if it
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
     * own; else 0.
     */
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

    /** Begins an event, if this is one of the first {@code most} passes; else returns 0. */
    @ForceInline
    public static long beginFirst(int point, int values, long cell, long most) throws Throwable {
        return first(cell, most) ? begin(point, values) : 0;
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

    /**
     * Makes timers read the function at this address, if compiled code can call it at little cost.
     * A tick takes {@code scale} nanoseconds divided by 2⁶². At one moment, the function returned
     * {@code ticks}, and {@code System.nanoTime()} returned {@code nanos}.
     */
    static void clock(long address, long ticks, long nanos, long scale) throws Throwable {
        MethodHandle counter = VeneerTicks.at(address);
        if (counter != null) {
            VeneerClock.change(counter, ticks, nanos, scale);
        }
    }

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

    //   ring    head(8) tail(8) –(8) capacity(8) …, and from HEADER on the data
    //   event   length(4) point(4) time(8) tid(8) –(8), then the values
    //   value   kind(8), then word(8), or length(8) and the characters, padded to 8
    //
    // All lengths are multiples of 8. Head and tail only grow. A length of 0 means that the writer
    // continued at the beginning of the data.
    private static final int HEADER = VeneerLayout.RING_HEADER;
    private static final int TEXT = VeneerLayout.EVENT_TEXT;

    /**
     * {@code Thread.currentCarrierThread()}, or null on a JDK without virtual threads. A ring
     * belongs to a carrier thread. Nothing blocks between the beginning and the end of an event, so
     * a virtual thread stays on its carrier.
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

    /**
     * Address of the current carrier's ring. If it has none, asks the agent for one if {@code
     * make}; else 0.
     */
    private static long ring(boolean make) throws Throwable {
        Thread carrier = CARRIER != null ? (Thread) CARRIER.invokeExact() : Thread.currentThread();
        long tid = U.getLong(carrier, TID);
        long row = table + (tid & MASK) * VeneerLayout.THREAD_ROW_BYTES;
        long ring = U.getLong(row) == tid ? U.getLong(row + VeneerLayout.THREAD_ROW_RING) : 0;
        return ring != 0 || !make ? ring : ring(tid);
    }

    /**
     * Begins an event, and returns the address for its values. If there is no room, counts a drop
     * and returns 0.
     */
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

    /**
     * Puts a string by its first characters, and any other object by its class and identity hash.
     * Calls no code of the application.
     */
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

    /**
     * Publishes the event that begins at the ring's head and ends at {@code at}. Does nothing for
     * 0.
     */
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
