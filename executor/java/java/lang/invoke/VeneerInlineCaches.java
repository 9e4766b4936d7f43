package java.lang.invoke;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * Inline caches of probes. A cell belongs to one point of one instrument, and remembers the class of
 * the first object that arrived there, weakly. The agent makes a page of cells before code that uses
 * it exists, and drops the page when the instrument is detached
 * ({@code executor/src/weaving/inline_caches.rs}).
 */
final class VeneerInlineCaches {
    private VeneerInlineCaches() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    /** An object has the class that the cell remembers. */
    static final long HIT = 0;
    /** The cell was empty, and remembers the class of this object from now on. */
    static final long FIRST = 1;
    /** An object has another class, or is null, or the class could not be remembered. */
    static final long OTHER = 2;

    // A number of a cell has the page in its upper bits.
    private static final int PAGE_BITS = 8;
    private static final int PAGE_CELLS = 1 << PAGE_BITS;
    private static final int PAGES = 1 << 14;

    private static final long BASE = VeneerTexts.base(WeakReference[].class);
    private static final int SCALE = U.arrayIndexScale(WeakReference[].class);

    // A cell changes once, and a page that was dropped is not made again soon. So compiled code may
    // treat both as constants.
    @Stable
    private static final WeakReference<?>[][] CELLS = new WeakReference<?>[PAGES][];

    @ForceInline
    static long look(Object o, long cell) {
        if (o == null) {
            return OTHER;
        }
        WeakReference<?>[] page = CELLS[(int) cell >> PAGE_BITS & PAGES - 1];
        if (page == null) {
            return OTHER;
        }
        WeakReference<?> first = page[(int) cell & PAGE_CELLS - 1];
        return first != null && refers(first, o.getClass()) ? HIT : enter(o, page, cell);
    }

    /** Compares without a barrier of the collector, unlike {@code get}. */
    @ForceInline
    @SuppressWarnings("unchecked")
    private static boolean refers(WeakReference<?> first, Class<?> type) {
        return ((WeakReference<Object>) first).refersTo(type);
    }

    private static long enter(Object o, WeakReference<?>[] page, long cell) {
        int i = (int) cell & PAGE_CELLS - 1;
        if (page[i] == null && VeneerHeap.hasRoom()) {
            long offset = BASE + (long) i * SCALE;
            if (U.compareAndSetReference(page, offset, null, new WeakReference<>(o.getClass()))) {
                return FIRST;
            }
        }
        WeakReference<?> first = page[i];
        return first != null && refers(first, o.getClass()) ? HIT : OTHER;
    }

    /** Makes a page. */
    static void add(int page) {
        CELLS[page] = new WeakReference<?>[PAGE_CELLS];
    }

    static void remove(int page) {
        CELLS[page] = null;
    }

    /** Drops all pages. Called when the agent unloads. */
    static void forget() {
        java.util.Arrays.fill(CELLS, null);
    }
}
