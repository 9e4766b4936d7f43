package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Adds the calls of each thread to the calling-context tree of the thread. {@code VeneerTrace} calls
 * the methods on application threads, if the current recording is one of contexts.
 *
 * <p>The track of a thread has the node of the innermost open call. The entry of a call finds or adds
 * the child of that node, and the exit restores the node of the caller. A call of a thread has a
 * node of its own while it is open, because a recursive call is a child of the node of its caller. So
 * the node itself keeps the time at which its open call began. Nodes are named by their offsets. Only
 * the thread itself writes to its track and to its nodes. The agent makes room for nodes
 * ({@code executor/src/data/context_file.rs}).
 *
 * <p>If there is no room for a node, the call and all calls in it are counted at the node above.
 * Such a call is an <em>overflow call</em>.
 *
 * <p>The state of a call has the number of the recording in the upper half, which is negative, and
 * in the lower half the number of its node, or for an overflow call {@code OVERFLOW} and the number
 * of open overflow calls, this one included.
 */
final class VeneerContexts {
    private VeneerContexts() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int NODES = VeneerLayout.CONTEXTS_NODES;
    private static final int CURRENT = VeneerLayout.CONTEXTS_CURRENT;
    private static final int USED = VeneerLayout.CONTEXTS_USED;
    private static final int END = VeneerLayout.CONTEXTS_END;
    private static final int INDEX = VeneerLayout.CONTEXTS_INDEX;
    private static final int MASK = VeneerLayout.CONTEXTS_MASK;
    private static final int NESTED = VeneerLayout.CONTEXTS_NESTED;
    private static final int NODE_SHIFT = VeneerLayout.NODE_SHIFT;
    private static final int CALLS = VeneerLayout.NODE_CALLS;
    private static final int WALL = VeneerLayout.NODE_WALL;
    private static final int START = VeneerLayout.NODE_START;
    private static final int OVERFLOW_CALLS = VeneerLayout.NODE_OVERFLOW_CALLS;
    private static final int OVERFLOW_WALL = VeneerLayout.NODE_OVERFLOW_WALL;
    private static final int LATEST_CHILD = VeneerLayout.NODE_LATEST_CHILD;
    private static final int DEPTH = VeneerLayout.NODE_DEPTH;
    private static final long LOWER = 0xffff_ffffL;
    private static final long OVERFLOW = 0x8000_0000L;

    /** Makes room for nodes of the current thread's tree. Returns false if there is none. */
    private static native boolean grow(long shard);

    /**
     * The address of the time that the agent writes at short intervals
     * ({@code executor/src/data/coarse_clock.rs}); 0 if times are exact.
     */
    static long coarse;

    private static long now() throws Throwable {
        return coarse != 0 ? U.getLong(null, coarse) : VeneerTrace.now();
    }

    /** Records the entry of a call, and returns the state of the call. */
    @ForceInline
    static long enter(long shard, int offset, int number) throws Throwable {
        if (shard > 0 && coarse != 0) {
            long track = VeneerTrace.track(shard);
            if (U.getLong(null, track) == number && U.getLong(null, track + NESTED) == 0) {
                long current = U.getLong(null, track + CURRENT);
                long nodes = U.getLong(null, track + NODES);
                long child = U.getLong(null, nodes + current + LATEST_CHILD);
                long node = nodes + child;
                if (U.getLong(null, node) == key(current, offset)) {
                    U.putLong(null, node + CALLS, U.getLong(null, node + CALLS) + 1);
                    U.putLong(null, node + START, U.getLong(null, coarse));
                    U.putLong(null, track + CURRENT, child);
                    return (long) number << 32 | child >>> NODE_SHIFT;
                }
            }
        }
        return find(shard, offset, number);
    }

    /** The key of the child of a node. */
    @ForceInline
    private static long key(long parent, int offset) {
        return parent >>> NODE_SHIFT << 32 | (offset >>> 3) + 1;
    }

    /** As {@link #enter}, for each call. */
    private static long find(long shard, int offset, int number) throws Throwable {
        long track = shard > 0 ? VeneerTrace.track(shard) : 0;
        if (track != 0 && U.getLong(track) != number) {
            track = U.getLong(track) == -number ? 0 : VeneerTrace.openCurrent(shard, number);
        }
        if (track == 0) {
            VeneerRuntime.add(shard, offset, 1);
            return 0;
        }
        // The clock is read before anything is stored, and its call needs more stack than the
        // stores do. So an overflow of the stack happens before the first store.
        long now = now();
        if (U.getLong(track + NESTED) != 0) {
            return enterOverflow(track, number, now);
        }
        long nodes = U.getLong(track + NODES);
        long current = U.getLong(track + CURRENT);
        long key = key(current, offset);
        long child = U.getLong(nodes + current + LATEST_CHILD);
        if (U.getLong(nodes + child) != key) {
            child = child(shard, track, current, key);
            if (child == 0) {
                return enterOverflow(track, number, now);
            }
        }
        long node = nodes + child;
        U.putLong(node + CALLS, U.getLong(node + CALLS) + 1);
        U.putLong(node + START, now);
        U.putLong(track + CURRENT, child);
        return (long) number << 32 | child >>> NODE_SHIFT;
    }

    /** Records the end of a call whose entry is recorded. */
    @ForceInline
    static void leave(long shard, long state, int recording) throws Throwable {
        if (shard > 0 && coarse != 0 && (int) (state >>> 32) == recording) {
            long track = VeneerTrace.track(shard);
            long offset = (state & LOWER) << NODE_SHIFT;
            if (U.getLong(null, track) == recording
                    && U.getLong(null, track + CURRENT) == offset
                    && U.getLong(null, track + NESTED) == 0) {
                long nodes = U.getLong(null, track + NODES);
                long node = nodes + offset;
                long wall = U.getLong(null, coarse) - U.getLong(null, node + START);
                if (wall != 0) {
                    U.putLong(null, node + WALL, U.getLong(null, node + WALL) + wall);
                }
                U.putLong(null, node + START, 0);
                U.putLong(null, track + CURRENT, U.getLong(null, node) >>> 32 << NODE_SHIFT);
                return;
            }
        }
        end(shard, state, recording);
    }

    /** As {@link #leave}, for each call. */
    private static void end(long shard, long state, int recording) throws Throwable {
        int number = (int) (state >>> 32);
        long track = shard > 0 ? VeneerTrace.track(shard) : 0;
        if (track == 0 || number != recording || U.getLong(track) != number) {
            return;
        }
        long now = now();
        long nested = U.getLong(track + NESTED);
        if ((state & OVERFLOW) != 0) {
            long outer = (state & LOWER - OVERFLOW) - 1;
            if (nested > outer) {
                leaveOverflow(track, outer, now);
            }
            return;
        }
        // The ends of calls inside this one are missing if the instrument was removed from their
        // method meanwhile.
        if (nested != 0) {
            leaveOverflow(track, 0, now);
        }
        long nodes = U.getLong(track + NODES);
        long node = (state & LOWER) << NODE_SHIFT;
        long current = U.getLong(track + CURRENT);
        if (current != node) {
            long depth = U.getLong(nodes + node + DEPTH);
            while (U.getLong(nodes + current + DEPTH) > depth) {
                current = close(nodes, current, now);
            }
        }
        U.putLong(track + CURRENT, current == node ? close(nodes, node, now) : current);
    }

    /** Adds the time of the open call of a node, and returns the node of the caller. */
    private static long close(long nodes, long offset, long now) {
        long node = nodes + offset;
        U.putLong(node + WALL, U.getLong(node + WALL) + now - U.getLong(node + START));
        U.putLong(node + START, 0);
        return U.getLong(node) >>> 32 << NODE_SHIFT;
    }

    private static long enterOverflow(long track, int number, long now) {
        long nodes = U.getLong(track + NODES);
        long node = nodes + U.getLong(track + CURRENT);
        long nested = U.getLong(track + NESTED) + 1;
        U.putLong(node + OVERFLOW_CALLS, U.getLong(node + OVERFLOW_CALLS) + 1);
        if (nested == 1) {
            U.putLong(nodes + START, now);
        }
        U.putLong(track + NESTED, nested);
        return (long) number << 32 | OVERFLOW | nested;
    }

    /** Ends overflow calls until {@code outer} of them are open. */
    private static void leaveOverflow(long track, long outer, long now) {
        U.putLong(track + NESTED, outer);
        if (outer == 0) {
            long nodes = U.getLong(track + NODES);
            long node = nodes + U.getLong(track + CURRENT);
            long wall = now - U.getLong(nodes + START);
            U.putLong(node + OVERFLOW_WALL, U.getLong(node + OVERFLOW_WALL) + wall);
        }
    }

    /** Finds or adds the child of a node. Returns 0 if there is no room for it. */
    private static long child(long shard, long track, long parent, long key) {
        long nodes = U.getLong(track + NODES);
        long free = entry(track, nodes, key);
        long child = U.getLong(free);
        if (child == 0) {
            child = U.getLong(track + USED);
            long end = U.getLong(track + END);
            if (child >= end) {
                if (end < 0 || !grow(shard)) {
                    return 0;
                }
                free = entry(track, nodes, key);
            }
            long node = nodes + child;
            U.putLong(node + DEPTH, U.getLong(nodes + parent + DEPTH) + 1);
            // A reader takes a node without a key for the end of the tree.
            U.putLongRelease(null, node, key);
            U.putLong(free, child);
            U.putLong(track + USED, child + (1L << NODE_SHIFT));
        }
        U.putLong(nodes + parent + LATEST_CHILD, child);
        return child;
    }

    /** The address of the entry of the index that has the node of a key, or that is free for it. */
    private static long entry(long track, long nodes, long key) {
        long index = U.getLong(track + INDEX);
        long mask = U.getLong(track + MASK);
        long at = hash(key) & mask;
        while (true) {
            long node = U.getLong(index + (at << 3));
            if (node == 0 || U.getLong(nodes + node) == key) {
                return index + (at << 3);
            }
            at = at + 1 & mask;
        }
    }

    private static long hash(long key) {
        return key * 0x9e37_79b9_7f4a_7c15L >>> 32;
    }
}
