package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Selects the accesses from which the agent computes miss-ratio curves: those to lines whose hash has none of
 * the bits of a mask. The agent changes the mask if there are too many such lines
 * ({@code profiles/memory/src/curve_sampler.rs}). Selected lines go into a buffer of the thread, and to the
 * agent when the buffer is full.
 */
final class VeneerCurve {
    private VeneerCurve() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long SEED = VeneerLayout.CURVE_SEED;
    private static final int CAPACITY = VeneerLayout.CURVE_CAPACITY;

    /** Takes the lines in the buffer of the current thread over. {@code moved}: objects have moved since. */
    private static native void take(long shard, boolean moved);

    /** An access of the current thread. {@code curve} is the address of its buffer. */
    static void add(long curve, long shard, long address) {
        VeneerCaches.add(curve + VeneerLayout.CURVE_REFERENCES, 1);
        long sizes = U.getLong(curve + VeneerLayout.CURVE_SIZES);
        for (long i = 0; i < sizes; i++) {
            long at = curve + (i << 3);
            long line = address >>> U.getLong(at + VeneerLayout.CURVE_SHIFTS);
            if ((mix(line ^ SEED) & U.getLong(at + VeneerLayout.CURVE_MASKS)) == 0) {
                store(curve, shard, line << 2 | i);
            }
        }
    }

    @DontInline
    private static void store(long curve, long shard, long line) {
        long count = U.getLong(curve);
        if (count < CAPACITY) {
            U.putLong(curve + VeneerLayout.CURVE_FIRST + (count << 3), line);
            U.putLong(curve, count + 1);
        }
        if (count + 1 >= CAPACITY) {
            take(shard, false);
        }
    }

    /** The objects have moved, so that lines have other contents. */
    static void moved(long shard) {
        take(shard, true);
    }

    /** The hash of {@code profiles/memory/src/hash.rs}. */
    private static long mix(long number) {
        long z = number + 0x9e37_79b9_7f4a_7c15L;
        z = (z ^ z >>> 30) * 0xbf58_476d_1ce4_e5b9L;
        z = (z ^ z >>> 27) * 0x94d0_49bb_1331_11ebL;
        return z ^ z >>> 31;
    }
}
