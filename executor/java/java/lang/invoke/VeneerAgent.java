package java.lang.invoke;

import java.security.ProtectionDomain;
import jdk.internal.misc.Unsafe;

/**
 * The methods that the agent calls through JNI ({@code executor/src/jvm/java_runtime.rs}). Most of
 * them only call the class that does the work, so that the agent needs one class.
 */
final class VeneerAgent {
    private VeneerAgent() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    // ---- the start of the agent -----------------------------------------------------------------

    /** Does nothing. Fails until the JVM looks for native methods in the agent's library. */
    static native void linked();

    /**
     * Takes the address of the thread table, and initialises the classes that application threads
     * call while they load an armed class. An application thread with a full stack might fail to
     * initialise a class, and then no thread could ever use it.
     */
    static void table(long address) {
        U.ensureClassInitialized(VeneerVersions.class);
        U.ensureClassInitialized(VeneerCells.class);
        VeneerRuntime.table(address);
    }

    /**
     * Prepares the JVM for the first token: initialises the classes that versions call, and runs the
     * code once that moves an activation to a version. Nothing of this is needed before, and it takes
     * longer than the rest of the agent's start.
     *
     * <p>The JVM allocates objects when it links a call of a method handle, and such a first call in
     * a thread of the application would fail on a full heap. This method fails on a full heap before
     * it initialises any class, so that it can be called again.
     */
    static void prepareVersions() throws Throwable {
        if (!VeneerHeap.hasRoom()) {
            throw new OutOfMemoryError("no room to prepare versions");
        }
        VeneerReserve.put(VeneerReserve.take(null));
        Class<?>[] called = {VeneerLinker.class, VeneerClasses.class, VeneerBacktrace.class};
        for (Class<?> one : called) {
            U.ensureClassInitialized(one);
        }
        VeneerEvents.findCarrier();
        VeneerClock.link();
        VeneerCell nowhere = new VeneerCell(-1, new VeneerGate());
        MethodType erased = MethodType.methodType(Object.class, Object.class);
        nowhere.resume = MethodHandles.Lookup.IMPL_LOOKUP.findStatic(VeneerAgent.class, "arrives", erased);
        VeneerRuntime.goL(VeneerFrame.of(0), nowhere);
    }

    private static Object arrives(Object frame) {
        return null;
    }

    /** The owner and the counter shard of each row of the thread table. */
    static long[] found() {
        return VeneerRuntime.found();
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

    /** See {@link VeneerTrace#chooseClock}. */
    static long chooseTraceClock() {
        return VeneerTrace.chooseClock();
    }

    // ---- versions and cells ----------------------------------------------------------------------

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

    /** See {@link VeneerVersions#define}. */
    static Class<?> define(Class<?> host, String name, byte[] bytes, MethodHandle[] tokens, int[] places, String finals, String bound)
            throws Throwable {
        return VeneerVersions.define(host, name, bytes, tokens, places, finals, bound);
    }

    /** See {@link VeneerVersions#defineAnchor}. */
    static Class<?> defineAnchor(ClassLoader loader, String name, byte[] bytes, ProtectionDomain domain) {
        return VeneerVersions.defineAnchor(loader, name, bytes, domain);
    }

    /** See {@link VeneerVersions#anchor}. */
    static void anchor(Class<?> anchor, int[] ids) {
        VeneerVersions.anchor(anchor, ids);
    }

    /** See {@link VeneerVersions#install}. */
    static void install(int id, Class<?> version, MethodHandle token) throws InstantiationException {
        VeneerVersions.install(id, version, token);
    }

    /** See {@link VeneerVersions#installResume}. */
    static void installResume(int id, Class<?> version, MethodHandle token, String body) throws Throwable {
        VeneerVersions.installResume(id, version, token, body);
    }

    /** The token that the cell of a method holds now. */
    static MethodHandle currentToken(int id) {
        return VeneerCells.cell(id).current();
    }

    /** See {@link VeneerCell#release}. */
    static void releaseResume(int id) {
        VeneerCells.cell(id).release();
    }

    /** See {@link VeneerHosts#shown}. */
    static long shownHosts() {
        return VeneerHosts.shown;
    }

    /** See {@link VeneerHosts#additions}. */
    static long hostAdditions() {
        return VeneerHosts.additions();
    }

    /** See {@link VeneerHosts#release}. */
    static long releaseHost(Class<?> host, long additions) {
        return VeneerHosts.release(host, additions) ? 1 : 0;
    }

    /** See {@link VeneerWalk#place}. */
    static long place(Class<?> version, String method, int bci) {
        return VeneerWalk.place(version, method, bci);
    }

    /** See {@link VeneerCells#forget}. */
    static void forget(int first, int end) {
        VeneerCells.forget(first, end);
    }

    /** See {@link VeneerHeap#roomToChange}. */
    static long roomToChange(long allocate) {
        return VeneerHeap.roomToChange(allocate);
    }

    /** See {@link VeneerHeap#roomToLink}. */
    static long roomToLink() {
        return VeneerHeap.roomToLink();
    }

    /** Switches a method back to its armed body. */
    static void idle(int id) {
        VeneerCells.cell(id).turn(VeneerCell.IDLE);
    }

    /** Called before many cells behind a gate change. Each call needs a call of {@link #open}. */
    static void shut(int gate) {
        VeneerCells.gate(gate).shut();
    }

    /** Called after many cells behind a gate have changed. */
    static void open(int gate) {
        VeneerCells.gate(gate).open();
    }

    // ---- classes that probes name ---------------------------------------------------------------

    /**
     * Initialises the classes that probes call, before the first probe runs. An application thread
     * with a full stack might fail to initialise them, and then no thread could ever use them.
     */
    static void prepare() {
        Class<?>[] called = {
            VeneerProbe.class, VeneerValues.class, VeneerTables.class, VeneerFrequentKeys.class, VeneerTexts.class, VeneerThreads.class,
            VeneerObjects.class, VeneerInlineCaches.class, VeneerLife.class, VeneerLives.class};
        for (Class<?> one : called) {
            U.ensureClassInitialized(one);
        }
    }

    static Class<?> loaded(Class<?> by, String name) throws Throwable {
        return VeneerClasses.loaded(by, name);
    }

    static long type(Class<?> type) {
        return VeneerClasses.number(type);
    }

    static String unreachable(Class<?> by, Class<?> type, int accessed) throws Throwable {
        return VeneerClasses.unreachable(by, type, accessed != 0);
    }

    /** The offset, in its object, of an instance field that the class declares. */
    static long offset(Class<?> declaring, String name, String descriptor) throws ClassNotFoundException {
        return VeneerLinker.offset(declaring, name, descriptor);
    }

    // ---- tables ---------------------------------------------------------------------------------

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

    /** See {@link VeneerCalls#start}. */
    static long[] startCalls(long shared, long unread, long pairs, Class<?> virtualThreads) {
        VeneerCalls.start(shared, unread, pairs, virtualThreads);
        return VeneerCalls.own();
    }

    /** See {@link VeneerCalls#pages}. */
    static void callPages(int first, int count) {
        VeneerCalls.pages(first, count);
    }

    /** Drops every string and object of the application. Called when the agent unloads. */
    static void forgetAll() {
        VeneerTexts.forget();
        VeneerObjects.forget();
        VeneerInlineCaches.forget();
        VeneerLives.forget();
    }

    /** See {@link VeneerLives#begin}. */
    static long beginLives(long words, long time, long most) {
        return VeneerLives.begin(words, time, most);
    }

    /** See {@link VeneerLives#fold}. */
    static void foldLives() {
        VeneerLives.fold();
    }

    /** See {@link VeneerLives#end}. */
    static long endLives() {
        return VeneerLives.end();
    }

    static void addInlineCaches(int page) {
        VeneerInlineCaches.add(page);
    }

    static void removeInlineCaches(int page) {
        VeneerInlineCaches.remove(page);
    }

    static void keep(long table, long places) {
        VeneerThreads.keep(table, places);
    }

    /** See {@link VeneerMemory#prepare}. The class is not initialised before it is needed. */
    private static void prepareAccesses() {
        VeneerMemory.prepare();
    }

    /** Returns 1 if objects can have origins: see {@link VeneerOrigins#prepare}. */
    private static long prepareOrigins() {
        return VeneerOrigins.prepare() ? 1 : 0;
    }

    /** See {@link VeneerMemory#begin}. */
    private static void beginAccesses(int number, long caches) {
        VeneerMemory.begin(number, caches);
    }

    private static void endAccesses() {
        VeneerMemory.end();
    }
}
