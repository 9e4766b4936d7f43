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
    public static final MethodHandle IDLE = MethodHandles.constant(Object.class, "idle");

    /** The method's id, as the agent counts them. */
    final int id;
    /** While it is shut, the checks read {@link #now}. */
    private final VeneerGate gate;
    /** The same as the target, which no compiled code takes as a constant. */
    private MethodHandle now = IDLE;
    /** Linked call sites of the armed body by point; grown under this object's monitor, by the agent or while linking. */
    MutableCallSite[] sites = new MutableCallSite[0];
    /** What enters the version that was set last; kept when IDLE, for an activation that is just on its way in. */
    volatile Class<?> version;
    /** The name of the body in it; the same for all versions. */
    volatile String body;
    /** The class with the packers and {@link #resume}. */
    volatile Class<?> resumeClass;
    /** {@code (VeneerFrame)Object} of the version with the token {@link #resumeToken}. */
    volatile MethodHandle resume;
    /** The token that {@link #resume} belongs to. */
    volatile MethodHandle resumeToken;
    /** The call site of the armed body's entry is linked. As long as it is not, the way in takes memory. */
    @Stable boolean entered;
    /** The token for which a resume body was asked for last. */
    private MethodHandle requested;
    /** What {@link VeneerRuntime#locate} learnt of the host's frame at its entry stub. */
    volatile long hostFrame = -1;

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

    /** The check at an armed method's entry. */
    @ForceInline
    @Hidden
    public boolean on() {
        return (gate.target == VeneerGate.OPEN ? target : now) != IDLE && (entered || VeneerRuntime.hasRoom());
    }

    /** The check at an armed method's other points: leave only when there is a place to go. */
    @ForceInline
    @Hidden
    public boolean leave() {
        return (gate.target == VeneerGate.OPEN ? target : now) != IDLE && ready();
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
            VeneerRuntime.request(id);
        }
        return false;
    }
}
