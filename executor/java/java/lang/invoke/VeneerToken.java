package java.lang.invoke;

import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * A token, which a cell's target represents: the armed body with counters at its entry, or one
 * version of the method. The target {@link VeneerCell#IDLE} represents no token.
 *
 * <p>A call site's target must be a method handle, so a token is the value of a constant method
 * handle. The handle's bound value is a final field of a class in {@code java.lang.invoke}. So if
 * the handle is a constant to the JIT, the token is one too.
 */
final class VeneerToken {
    /** Limit for the counters of a token. */
    private static final int MOST = 4;

    /**
     * The instance of the version class; null for the armed body. Set once, before any cell has the
     * token.
     */
    @Stable Object body;

    /** Number of counters at the entry of the armed body; 0 for a version. */
    final int counters;
    /** Offsets of the counters from the thread's shard. */
    private final int first, second, third, fourth;

    private VeneerToken(int... offsets) {
        counters = offsets.length;
        int[] all = java.util.Arrays.copyOf(offsets, MOST);
        first = all[0];
        second = all[1];
        third = all[2];
        fourth = all[3];
    }

    /**
     * A new token, as a target for a cell. With offsets, for the armed body with these counters at
     * its entry.
     */
    static MethodHandle make(int... offsets) {
        return VeneerBound.make(new VeneerToken(offsets));
    }

    /**
     * Counts an activation. Not marked as {@code ForceInline}: C1 does not inline a method of this
     * size by itself, and would give each activation of a recursive method a larger frame. C2
     * inlines hot calls.
     */
    void count() {
        long shard = VeneerRuntime.shard();
        VeneerRuntime.count(shard, first);
        if (counters > 1) {
            VeneerRuntime.count(shard, second);
        }
        if (counters > 2) {
            VeneerRuntime.count(shard, third);
        }
        if (counters > 3) {
            VeneerRuntime.count(shard, fourth);
        }
    }

    /** The token that a target of a cell represents. */
    @ForceInline
    static VeneerToken of(MethodHandle target) {
        return (VeneerToken) VeneerBound.value(VeneerBound.handle(target));
    }
}
