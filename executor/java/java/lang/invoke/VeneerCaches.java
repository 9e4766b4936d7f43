package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The caches of a thread, which {@link VeneerMemory} looks up: {@code profiles/memory/src/hierarchy.rs} has the
 * rules. A slot has the number of a line plus 1, shifted by one bit, and the bit of a dirty line; 0 is empty.
 */
final class VeneerCaches {
    private VeneerCaches() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    private static final int SHIFT = VeneerLayout.CACHE_SHIFT;
    private static final int SETS = VeneerLayout.CACHE_SETS;
    private static final int WAYS = VeneerLayout.CACHE_WAYS;
    private static final int POLICY = VeneerLayout.CACHE_POLICY;
    private static final int FIRST_SLOT = VeneerLayout.CACHE_FIRST_SLOT;
    private static final int COUNTS = VeneerLayout.CACHE_COUNTS;
    private static final int ROW = VeneerLayout.CACHE_BYTES;
    private static final int MISSES = 8;
    private static final int WRITES_BACK = 1;
    private static final int WRITE_ALLOCATES = 2;
    /** The policy has this bit if lookups are also counted by window. */
    private static final int BY_WINDOW = 4;
    /** A line is present. No slot has this value, because no line has all bits. */
    static final long HIT = -1;

    /** Adds to a word that only the current thread changes. */
    @ForceInline
    static void add(long word, long value) {
        U.putLong(word, U.getLong(word) + value);
    }

    /** Simulates an access in all caches, and counts at the entry. */
    @DontInline
    static void simulate(long track, long shard, long entry, long address, boolean isWrite) {
        long state = U.getLong(track + VeneerLayout.ACCESSES_STATE);
        long caches = VeneerMemory.caches(track);
        long slots = U.getLong(caches + VeneerLayout.CACHES_L1_SLOTS);
        long inShard = slots == 0 ? 0 : shard + slots;
        int descriptions = (int) U.getLong(caches + VeneerLayout.CACHES_COUNT);
        long curve = U.getLong(track + VeneerLayout.ACCESSES_CURVE);
        if (curve != 0) {
            VeneerCurve.add(curve, shard, address);
        }
        for (int i = 0; i < descriptions; i++) {
            long rows = VeneerMemory.rows(caches, i);
            long tlbs = U.getLong(rows + VeneerLayout.CACHES_TLBS);
            translate(state, entry, address, rows + VeneerLayout.CACHES_FIRST_TLB, tlbs);
            pass(rows, rows + VeneerMemory.levels(rows) * ROW, state, inShard, entry, address, 0, isWrite, true);
        }
    }

    /**
     * Counts a lookup at an entry. In a sampled recording, a line that takes an empty slot is not counted:
     * it may have been there if the cache had been simulated from the beginning.
     *
     * @param replaced {@link #HIT}, or the slot of the replaced line; 0 if it was empty
     */
    private static void count(long row, long entry, long replaced) {
        boolean isSampled = (U.getLong(row + POLICY) & BY_WINDOW) != 0;
        if (isSampled && replaced == 0) {
            return;
        }
        long counts = entry + U.getLong(row + COUNTS);
        int miss = replaced == HIT ? 0 : 1;
        add(counts, 1);
        add(counts + MISSES, miss);
        if (isSampled) {
            countInWindow(counts, miss);
        }
    }

    /** Counts a lookup in its window. The sums over the windows show how much they differ. */
    private static void countInWindow(long counts, int miss) {
        long now = VeneerMemory.state();
        if (U.getLong(counts + VeneerLayout.COUNTS_WINDOW) != now) {
            long lookups = U.getLong(counts + VeneerLayout.COUNTS_IN_WINDOW);
            long misses = U.getLong(counts + VeneerLayout.COUNTS_IN_WINDOW + 8);
            long sums = counts + VeneerLayout.COUNTS_SUMS;
            add(sums, lookups * lookups);
            add(sums + 8, lookups * misses);
            add(sums + 16, misses * misses);
            add(sums + 24, 1);
            U.putLong(counts + VeneerLayout.COUNTS_IN_WINDOW, 0);
            U.putLong(counts + VeneerLayout.COUNTS_IN_WINDOW + 8, 0);
            U.putLong(counts + VeneerLayout.COUNTS_WINDOW, now);
        }
        add(counts + VeneerLayout.COUNTS_IN_WINDOW, 1);
        add(counts + VeneerLayout.COUNTS_IN_WINDOW + 8, miss);
    }

    private static void translate(long state, long entry, long address, long row, long tlbs) {
        for (long i = 0; i < tlbs; i++, row += ROW) {
            long page = (address >>> U.getLong(row + SHIFT)) + 1;
            long set = state + U.getLong(row + FIRST_SLOT) + set(row, page);
            long replaced = reference(set, (int) U.getLong(row + WAYS), page, 0);
            count(row, entry, replaced);
            if (replaced == HIT) {
                return;
            }
        }
    }

    /**
     * Handles a request at a level, and at the levels after it that it concerns: {@code Hierarchy::pass}
     * in {@code profiles/memory/src/hierarchy.rs}.
     *
     * @param end the address behind the last level
     * @param l1 the address of the slots, if the level is an L1 in the counter shard; else 0
     * @param bytes the number of bytes of a request that is no access
     */
    private static void pass(
            long row,
            long end,
            long state,
            long l1,
            long entry,
            long address,
            long bytes,
            boolean isWrite,
            boolean isDemand) {
        if (row == end) {
            return;
        }
        long shift = U.getLong(row + SHIFT);
        long policy = U.getLong(row + POLICY);
        long ways = U.getLong(row + WAYS);
        boolean writesBack = (policy & WRITES_BACK) != 0;
        boolean isPassedOn = isWrite && !writesBack;
        long dirty = isWrite && writesBack ? 1 : 0;
        long line = (address >>> shift) + 1;
        long set = (l1 != 0 ? l1 : state + U.getLong(row + FIRST_SLOT)) + set(row, line);
        boolean allocates = !isWrite || (policy & WRITE_ALLOCATES) != 0;
        long replaced = allocates ? reference(set, (int) ways, line, dirty) : touch(set, (int) ways, line, dirty);
        if (isDemand) {
            count(row, entry, replaced);
        }
        if (replaced != HIT && allocates) {
            if (isDemand || !isWrite || bytes < 1L << shift) {
                fetch(row, end, state, entry, line - 1, replaced, isDemand);
            } else {
                writeBack(row, end, state, entry, replaced);
            }
        }
        if (isPassedOn || replaced != HIT && !allocates) {
            pass(row + ROW, end, state, 0, entry, address, bytes, isWrite, isDemand);
        }
    }

    /** Reads a line that a level misses from the next one, and writes the line back that it replaces. */
    static void fetch(
            long row, long end, long state, long entry, long line, long replaced, boolean isDemand) {
        long shift = U.getLong(row + SHIFT);
        pass(row + ROW, end, state, 0, entry, line << shift, 1L << shift, false, isDemand);
        writeBack(row, end, state, entry, replaced);
    }

    private static void writeBack(long row, long end, long state, long entry, long replaced) {
        if ((replaced & 1) != 0) {
            long shift = U.getLong(row + SHIFT);
            pass(row + ROW, end, state, 0, entry, (replaced >>> 1) - 1 << shift, 1L << shift, true, false);
        }
    }

    /** The offset of the first slot of the set of a line from the first slot of the cache. */
    private static long set(long row, long line) {
        long sets = U.getLong(row + SETS);
        long set = (sets & sets - 1) == 0 ? line - 1 & sets - 1 : (line - 1) % sets;
        return set * U.getLong(row + WAYS) * 8;
    }

    /**
     * Makes a line the first one of its set. Returns {@link #HIT} if it was present, otherwise the slot of the
     * line that it replaces, or 0.
     */
    static long reference(long set, int ways, long line, long dirty) {
        long moved = line << 1 | dirty;
        for (int i = 0; i < ways; i++) {
            long at = set + ((long) i << 3);
            long slot = U.getLong(at);
            U.putLong(at, moved);
            if (slot >>> 1 == line) {
                if ((slot & 1) != 0) {
                    U.putLong(set, slot);
                }
                return HIT;
            }
            moved = slot;
        }
        return moved;
    }

    /** Looks a line up, and makes it the first one of its set if it is present. Returns {@link #HIT} or 0. */
    private static long touch(long set, int ways, long line, long dirty) {
        for (int i = 0; i < ways; i++) {
            if (U.getLong(set + ((long) i << 3)) >>> 1 == line) {
                return reference(set, ways, line, dirty);
            }
        }
        return 0;
    }
}
