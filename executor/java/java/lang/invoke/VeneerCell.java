package java.lang.invoke;

import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.Stable;

/**
 * The cell of one method: what says which control-flow graph an activation runs.
 *
 * <p>IDLE: the armed body runs. Anything else is the token of a version. The target of a call site is the one kind of field
 * that the JIT takes as a constant and gives up code for when it changes, so an armed body's check leaves nothing behind in
 * compiled code. The target is only a token; it is never called.
 */
public final class VeneerCell extends MutableCallSite {
    /** The token of the armed body. */
    public static final MethodHandle IDLE = VeneerToken.make();

    /** The method's id, as the agent counts them. */
    final int id;
    /** While it is shut, the checks read {@link #now}. */
    private final VeneerGate gate;
    /** The same as the target, which no compiled code takes as a constant. */
    private MethodHandle now = IDLE;
    /** The instance of the version that was installed last. An activation needs it if the cell turns between its check and its call. */
    volatile Object last;
    /** {@code (Object)Object} of the version, which takes a frame with the token {@link #resumeToken}. */
    volatile MethodHandle resume;
    /** The token that {@link #resume} belongs to. */
    volatile MethodHandle resumeToken;
    /** The token for which a resume body was asked for last. */
    private MethodHandle requested;

    VeneerCell(int id, VeneerGate gate) {
        super(IDLE);
        this.id = id;
        this.gate = gate;
    }

    /** From now on activations run the version with this token. */
    void turn(MethodHandle token) {
        now = token;
        setTarget(token);
    }

    /**
     * The check at an armed method's entry. It counts the activation if only that was asked for. {@link VeneerToken#of} is written
     * out here and in {@link #leave}: C1 would give each activation of the armed body a frame that is 32 bytes larger.
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
     * The instance of the current version, on which an armed method's entry calls the version's body. A constant to the JIT as
     * long as the cell does not turn.
     */
    @ForceInline
    @Hidden
    public Object body() {
        Object body = VeneerToken.of(gate.target == VeneerGate.OPEN ? target : now).body;
        return body != null ? body : last;
    }

    /** The check at an armed method's other points: leave only when there is a place to go. */
    @ForceInline
    @Hidden
    public boolean leave() {
        MethodHandle target = gate.target == VeneerGate.OPEN ? this.target : now;
        return target != IDLE && ((VeneerToken) VeneerBound.value(VeneerBound.handle(target))).counters == 0 && ready();
    }

    /** The check inside a version. */
    @ForceInline
    @Hidden
    public boolean stale(MethodHandle mine) {
        return (gate.target == VeneerGate.OPEN ? target : now) != mine && ready();
    }

    /** Whether the current version can take an activation that is already running; asks for that where it cannot yet. */
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
                // The JVM may look for the native method now, which takes memory.
                requested = null;
            }
        }
        return false;
    }
}
