package java.lang.invoke;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The cells and gates of all armed methods, by the ids that the agent gives to methods. */
final class VeneerCells {
    private VeneerCells() {}

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
    static VeneerGate gate(int number) {
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
    static VeneerCell cell(int id) {
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
}
