package java.lang.invoke;

/**
 * A gate: a call site that the cells of neighbouring methods share, so that they can change
 * together for the cost of two changes.
 *
 * <p>When a cell's target changes, the JVM deoptimises the code that used the target as a constant,
 * by a walk over all compiled code. One walk takes less than a millisecond, but those for 5,000
 * cells take seconds. So compiled code uses a cell's target as a constant only while the cell's
 * gate is open, and the gate's target is a constant of the same kind. Shutting the gate deoptimises
 * all that code in one walk. While the gate is shut, checks read a plain field. Opening the gate
 * deoptimises the code that was compiled while it was shut:
 *
 * <pre>
 *   open:  gate.target is OPEN ? cell.target : cell.now     both are constants, the check costs nothing
 *   shut:  gate.target is OPEN ? cell.target : cell.now     one load; cell.target changes without a walk
 * </pre>
 */
final class VeneerGate extends MutableCallSite {
    /** Number of methods that share a gate. Shutting it deoptimises the code of all of them. */
    static final int WIDTH = VeneerLayout.GATE_WIDTH;

    /** The target of an open gate. Its bound value is null, for which checks test. */
    private static final MethodHandle OPEN = VeneerBound.make(null);
    private static final MethodHandle SHUT = VeneerBound.make("shut");

    /** Number of calls of {@link #shut} without their call of {@link #open}. */
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
