package java.lang.invoke;

import java.lang.ref.WeakReference;

/** The cells and gates of all armed methods, by the ids that the agent gives to methods. */
final class VeneerCells {
    private VeneerCells() {}

    /** Number of cells in a page. */
    private static final int PAGE = 1 << 10;
    /** Pages of weak references to cells, by method id. Entries are read and set atomically. */
    private static final Object[] CELLS = new Object[1 << 14];
    /** Number of gates in a page. */
    private static final int GATES_PAGE = PAGE / VeneerGate.WIDTH;
    /** Pages of weak references to gates, by method id divided by the width of a gate. */
    private static final Object[] GATES = new Object[1 << 14];

    // An `AtomicReferenceArray` would make the JVM initialise its var handles when the agent starts.
    // The offset of an array's first element, which `Unsafe` needs, has another type in each JDK. So
    // the array itself is the lock. A thread that holds the lock calls nothing.

    private static Object get(Object[] array, int index) {
        synchronized (array) {
            return array[index];
        }
    }

    /** Replaces an entry, if it is still the expected one. */
    private static boolean replace(Object[] array, int index, Object expected, Object value) {
        synchronized (array) {
            boolean same = array[index] == expected;
            if (same) {
                array[index] = value;
            }
            return same;
        }
    }

    /** The page with this number, created when first asked for. */
    private static Object[] page(Object[] pages, int number, int width) {
        Object page = get(pages, number);
        if (page == null) {
            replace(pages, number, null, new Object[width]);
            page = get(pages, number);
        }
        return (Object[]) page;
    }

    /** The object to which an entry of a page refers. Null if there is none. */
    private static Object referent(Object entry) {
        return entry == null ? null : ((WeakReference<?>) entry).get();
    }

    /** The gate with this number, created when first asked for. Its cells keep it reachable. */
    static VeneerGate gate(int number) {
        Object[] page = page(GATES, number / GATES_PAGE, GATES_PAGE);
        while (true) {
            Object known = get(page, number % GATES_PAGE);
            VeneerGate gate = (VeneerGate) referent(known);
            if (gate != null) {
                return gate;
            }
            gate = new VeneerGate();
            if (replace(page, number % GATES_PAGE, known, new WeakReference<>(gate))) {
                return gate;
            }
        }
    }

    /**
     * The cell of a method, created when first asked for. Only the anchor keeps the cell reachable:
     * the cell refers to version classes, and must not prevent the method's class loader from being
     * unloaded.
     */
    static VeneerCell cell(int id) {
        Object[] page = page(CELLS, id / PAGE, PAGE);
        while (true) {
            Object known = get(page, id % PAGE);
            VeneerCell cell = (VeneerCell) referent(known);
            if (cell != null) {
                return cell;
            }
            cell = new VeneerCell(id, gate(id / VeneerGate.WIDTH));
            if (replace(page, id % PAGE, known, new WeakReference<>(cell))) {
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
            Object[] page = (Object[]) get(CELLS, id / PAGE);
            Object known = page == null ? null : get(page, id % PAGE);
            if (known != null && (referent(known) != null || !replace(page, id % PAGE, known, null))) {
                throw new IllegalStateException("the cell " + id + " is in use");
            }
        }
    }
}
