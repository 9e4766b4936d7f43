package java.lang.invoke;

import jdk.internal.misc.Unsafe;

/**
 * The most frequent keys of an unbounded number, in a table of {@link VeneerTables} (space saving:
 * Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k Elements in Data
 * Streams, 2005). The hash of the keys selects a group of {@link #GROUP} places. New keys replace
 * those with the least count of their group, and continue from this count, which becomes their
 * error.
 *
 * <p>Values: count, error, and, in the first place of a group, whether a thread is replacing keys of
 * the group. The count of a place only rises, also when its keys are replaced. So a thread that
 * reads a count, then finds its keys in the place, and then increments exactly that count, has
 * counted for its keys.
 */
final class VeneerFrequentKeys {
    private VeneerFrequentKeys() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long GROUP = VeneerLayout.GROUP;
    private static final int VALUES = VeneerTables.VALUES;

    /** Increments the count of the place with these keys; false if no place has them. */
    static boolean counted(long group, long size, long hash, long tags, long a, long b, long c, long d) {
        for (long place = group, end = group + GROUP * size; place < end; place += size) {
            while (U.getLong(place) == hash) {
                long count = U.getLongAcquire(null, place + VALUES);
                if (U.getLong(place) != hash || !VeneerTables.has(place, tags, a, b, c, d)) {
                    break;
                }
                if (U.compareAndSetLong(null, place + VALUES, count, count + 1)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Gives the keys a place of the group; false if other threads occupy the group for too long.
     * One thread at a time does this, so no keys get two places.
     */
    static boolean joined(long group, long size, long hash, long tags, long a, long b, long c, long d) {
        long busy = group + VALUES + 16;
        if (!VeneerPlaces.lock(busy)) {
            return false;
        }
        // Another thread may have added the keys.
        boolean done = counted(group, size, hash, tags, a, b, c, d) || taken(group, size, hash, tags, a, b, c, d);
        VeneerPlaces.unlock(busy);
        return done;
    }

    /**
     * Replaces the keys of the place with the least count; false if other threads change the counts
     * too fast.
     */
    private static boolean taken(long group, long size, long hash, long tags, long a, long b, long c, long d) {
        for (int turn = 0; turn < VeneerPlaces.SPINS; turn++) {
            long least = group;
            long count = U.getLong(group + VALUES);
            for (long n = 1; n < GROUP; n++) {
                long here = U.getLong(group + n * size + VALUES);
                if (here < count) {
                    count = here;
                    least = group + n * size;
                }
            }
            long state = U.getLong(least);
            U.putLongVolatile(null, least, 1);
            // No thread finds the old keys from here on. A thread that found them earlier fails to
            // increment the count.
            if (U.compareAndSetLong(null, least + VALUES, count, count + 1)) {
                VeneerTables.give(least, tags, a, b, c, d);
                U.putLong(least + VALUES + 8, count);
                U.putLongRelease(null, least, hash);
                return true;
            }
            U.putLongRelease(null, least, state);
        }
        return false;
    }
}
