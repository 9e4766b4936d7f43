package java.lang.invoke;

import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

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
    /** The target for the armed body. It represents no token. */
    public static final MethodHandle IDLE = VeneerBound.make(null);

    /** The agent's id of the method. */
    final int id;
    /** While the gate is shut, checks read {@link #now}. */
    private final VeneerGate gate;
    /** A copy of the target that no compiled code treats as a constant. */
    private MethodHandle now = IDLE;
    /**
     * The OSR entry, of type {@code (Object)Object}, of the version with the token {@link
     * #resumeToken}. Null until an activation needs one, and after {@link #release}.
     */
    volatile MethodHandle resume;
    /** The token that {@link #resume} belongs to. */
    volatile MethodHandle resumeToken;
    /**
     * The OSR entry of the current version while {@link #resume} already is that of the next one,
     * until the switch has ended. An activation that moves between the parts of the current version
     * stays in it.
     */
    private volatile MethodHandle former;
    /** The token that {@link #former} belongs to; null if there is none. */
    private volatile MethodHandle formerToken;
    /** The token for which an OSR entry was requested last. */
    private MethodHandle requested;

    VeneerCell(int id, VeneerGate gate) {
        super(IDLE);
        this.id = id;
        this.gate = gate;
    }

    /** Switches the cell: new activations run the version with this token. */
    synchronized void turn(MethodHandle token) {
        // The old token would keep its version alive.
        requested = null;
        now = token;
        setTarget(token);
        forgetFormer();
    }

    private void forgetFormer() {
        formerToken = null;
        former = null;
    }

    /** The token that was given last, or {@link #IDLE}. */
    MethodHandle current() {
        return now;
    }

    /** Gives the version with this token an OSR entry. */
    synchronized void accept(MethodHandle entry, MethodHandle token) {
        MethodHandle now = this.now;
        if (formerToken == now && token == now) {
            former = entry;
            return;
        }
        if (resumeToken == now && token != now) {
            former = resume;
            formerToken = now;
        }
        resume = entry;
        resumeToken = token;
    }

    /**
     * Drops the OSR entry of the clean version, so that the JVM can unload its class. Called when
     * the method is back in its armed body and no thread shows an activation of it. An activation of
     * a virtual thread may still be in a version. It requests the OSR entry again.
     */
    synchronized void release() {
        if (now == IDLE) {
            resumeToken = null;
            resume = null;
            requested = null;
            forgetFormer();
        }
    }

    /**
     * The OSR entry for an activation that has left its code, and so must continue in a version.
     * The entry is missing only if {@link #release} has dropped it since the activation's check.
     * The agent then makes another one. Parking is no way to wait for it, since it could take the
     * permit of an {@code unpark} that the application needs.
     */
    @Hidden
    MethodHandle entry() {
        // Until a switch has ended, compiled code may still enter the former version.
        MethodHandle kept = former;
        if (kept != null) {
            return kept;
        }
        MethodHandle entry = resume;
        while (entry == null) {
            ready();
            Thread.yield();
            entry = resume;
        }
        return entry;
    }

    /**
     * The check at an armed method's entry: the instance of the version that the activation enters,
     * or null if it runs the armed body. If the token only has counters, counts the activation. The
     * check and the choice of the version are one call, so a switch between them cannot leave the
     * activation without a version, and a cell need not keep a version after the switch. {@link
     * VeneerToken#of} is inlined by hand here and in {@link #leave}, and nothing is compared but with
     * null, because C1 gives each activation of the armed body room for the deepest operand stack of
     * the methods that it inlines there.
     */
    @ForceInline
    @Hidden
    public Object version() {
        MethodHandle target = VeneerBound.value(VeneerBound.handle(gate.target)) == null ? this.target : now;
        VeneerToken token = (VeneerToken) VeneerBound.value(VeneerBound.handle(target));
        if (token == null) {
            return null;
        }
        if (token.counters == 0) {
            return token.body;
        }
        token.count();
        return null;
    }

    /**
     * The check at an armed method's other capture points: whether the current version can take
     * this activation.
     */
    @ForceInline
    @Hidden
    public boolean leave() {
        MethodHandle target = VeneerBound.value(VeneerBound.handle(gate.target)) == null ? this.target : now;
        VeneerToken token = (VeneerToken) VeneerBound.value(VeneerBound.handle(target));
        return token != null && token.counters == 0 && ready();
    }

    /**
     * The check in a version with the token {@code mine}: whether another version can take this
     * activation.
     */
    @ForceInline
    @Hidden
    public boolean stale(MethodHandle mine) {
        return (VeneerBound.value(VeneerBound.handle(gate.target)) == null ? target : now) != mine && ready();
    }

    /**
     * Whether the current version has an OSR entry, and the heap has room. Requests the OSR entry
     * if it is missing.
     */
    @Hidden
    private boolean ready() {
        MethodHandle now = this.now;
        if (resumeToken == now || formerToken == now) {
            return VeneerHeap.hasRoom();
        }
        if (requested != now) {
            requested = now;
            try {
                request(id);
            } catch (OutOfMemoryError full) {
                // The first call of a native method looks it up, which needs memory.
                requested = null;
            }
        }
        return false;
    }

    /**
     * Asks the agent for an OSR entry of the method's current version. The JVM finds this method by
     * name in the agent's library.
     */
    private static native void request(int id);
}
