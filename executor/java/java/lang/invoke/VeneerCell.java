package java.lang.invoke;

import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.Stable;

/**
 * The cell of one method: a mutable call site whose target names the code that activations run.
 *
 * <p>With the target {@link #IDLE}, activations run the armed body. Any other target is the token
 * of a version, or of the armed body with counters. The target of a call site is the only kind of
 * field that the JIT treats as a constant and whose change deoptimises the compiled code. So the
 * check of an armed body costs nothing in compiled code. The target is only a token, and is never
 * called.
 */
public final class VeneerCell extends MutableCallSite {
    /** The token of the armed body. */
    public static final MethodHandle IDLE = VeneerToken.make();

    /** The agent's id of the method. */
    final int id;
    /** While the gate is shut, checks read {@link #now}. */
    private final VeneerGate gate;
    /** A copy of the target that no compiled code treats as a constant. */
    private MethodHandle now = IDLE;
    /**
     * The instance of the last version. An activation needs it if the cell switches between its
     * check and its call.
     */
    volatile Object last;
    /**
     * The OSR entry, of type {@code (Object)Object}, of the version with the token {@link
     * #resumeToken}.
     */
    volatile MethodHandle resume;
    /** The token that {@link #resume} belongs to. */
    volatile MethodHandle resumeToken;
    /** The token for which an OSR entry was requested last. */
    private MethodHandle requested;

    VeneerCell(int id, VeneerGate gate) {
        super(IDLE);
        this.id = id;
        this.gate = gate;
    }

    /** Switches the cell: new activations run the version with this token. */
    void turn(MethodHandle token) {
        now = token;
        setTarget(token);
    }

    /**
     * The check at an armed method's entry: whether the activation enters a version. If the token
     * only has counters, counts the activation. {@link VeneerToken#of} is inlined by hand here and
     * in {@link #leave}, because C1 would give each activation of the armed body a frame that is 32
     * bytes larger.
     */
    @ForceInline
    @Hidden
    public boolean on() {
        MethodHandle target = gate.target == VeneerGate.OPEN ? this.target : now;
        if (target == IDLE) {
            return false;
        }
        VeneerToken token = (VeneerToken) VeneerBound.value(VeneerBound.handle(target));
        if (token.counters == 0) {
            return true;
        }
        token.count();
        return false;
    }

    /**
     * The instance of the current version, on which an armed method's entry calls the version's
     * body. The JIT treats it as a constant until the cell switches.
     */
    @ForceInline
    @Hidden
    public Object body() {
        Object body = VeneerToken.of(gate.target == VeneerGate.OPEN ? target : now).body;
        return body != null ? body : last;
    }

    /**
     * The check at an armed method's other capture points: whether the current version can take
     * this activation.
     */
    @ForceInline
    @Hidden
    public boolean leave() {
        MethodHandle target = gate.target == VeneerGate.OPEN ? this.target : now;
        return target != IDLE && ((VeneerToken) VeneerBound.value(VeneerBound.handle(target))).counters == 0 && ready();
    }

    /**
     * The check in a version with the token {@code mine}: whether another version can take this
     * activation.
     */
    @ForceInline
    @Hidden
    public boolean stale(MethodHandle mine) {
        return (gate.target == VeneerGate.OPEN ? target : now) != mine && ready();
    }

    /**
     * Whether the current version has an OSR entry, and the heap has room. Requests the OSR entry
     * if it is missing.
     */
    @Hidden
    private boolean ready() {
        MethodHandle now = this.now;
        if (resumeToken == now) {
            return VeneerRuntime.hasRoom();
        }
        if (requested != now) {
            requested = now;
            try {
                VeneerRuntime.request(id);
            } catch (OutOfMemoryError full) {
                // The first call of a native method looks it up, which needs memory.
                requested = null;
            }
        }
        return false;
    }
}
