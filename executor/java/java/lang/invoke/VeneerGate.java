package java.lang.invoke;

/**
 * What lets the cells of neighbouring methods change together for the price of two.
 *
 * <p>The JVM gives up the code that took a cell's target as a constant by a walk over all compiled code. For one cell that
 * takes less than a millisecond; for those of 5,000 methods it is seconds. So compiled code takes a cell's target as a
 * constant only where it takes the cell's gate to be open, which is a constant of the same kind. Shutting the gate gives all that
 * code up in one walk; while it is shut the checks read a plain field; and opening it gives up what was compiled meanwhile:
 *
 * <pre>
 *   open:  gate.target == OPEN ? cell.target : cell.now     both constants, nothing is left of the check
 *   shut:  gate.target == OPEN ? cell.target : cell.now     one load; no code depends on cell.target, so it changes for nothing
 * </pre>
 */
final class VeneerGate extends MutableCallSite {
    /** Methods behind one gate. Shutting it gives up the code of all of them. */
    static final int WIDTH = VeneerLayout.GATE_WIDTH;

    static final MethodHandle OPEN = MethodHandles.constant(Object.class, "open");
    private static final MethodHandle SHUT = MethodHandles.constant(Object.class, "shut");

    /** By how many it is held shut. */
    private int holders;

    VeneerGate() {
        super(OPEN);
    }

    synchronized void shut() {
        if (holders++ == 0) {
            setTarget(SHUT);
        }
    }

    synchronized void open() {
        if (holders > 0 && --holders == 0) {
            setTarget(OPEN);
        }
    }
}
