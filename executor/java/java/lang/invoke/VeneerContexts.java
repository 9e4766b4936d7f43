package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
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
 * <p>The agent reads the processor time of a thread only after the thread was switched out
 * ({@code executor/src/data/processor_clock.rs}). The time during which it did not run belongs to the
 * call that was innermost meanwhile. So the first event after a switch lets the agent add this time
 * to the node, before it changes the node.
 *
 * <p>A plan can tell when a task is submitted to another thread, when the task begins, and when it
 * ends ({@code task_submitted}, {@code task_begins}, {@code task_ends}). The calls of a task are below a
 * node of the thread that runs it, whose key has the number of the submission in place of a method.
 * The agent knows the context of each submission. A chain of tasks that submit each other has at most
 * {@code MAX_CHAIN} links: later tasks count as submitted where the last link was.
 *
 * <p>If there is no room for a node, the call and all calls in it are counted at the node above.
 * Such a call is an <em>overflow call</em>.
 *
 * <p>The track and the states of calls have addresses of nodes, with the tag of the recording in the
 * upper 16 bits. The state of a call has the node of its caller. The tag has bit 63, and the lower 14
 * bits of the recording's number. So a call that began in another recording is recognised by one
 * comparison. The state of an overflow call has the bit {@code OVERFLOW}, and the number of open
 * overflow calls, this one included. While overflow calls are open, the word of the track has no bit 63.
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
    private static final int THREAD = VeneerLayout.CONTEXTS_THREAD;
    private static final long TASK = VeneerLayout.TASK;
    /** The most tasks of a chain in which each one submits the next one. */
    private static final int MAX_CHAIN = 8;
    /** In the context of a submission: the number of links is above these bits. */
    private static final int CHAIN_SHIFT = 56;
    private static final int NODE_SHIFT = VeneerLayout.NODE_SHIFT;
    private static final int CALLS = VeneerLayout.NODE_CALLS;
    private static final int WALL = VeneerLayout.NODE_WALL;
    private static final int START = VeneerLayout.NODE_START;
    private static final int ALLOCATIONS = VeneerLayout.NODE_ALLOCATIONS;
    /**
     * In the node of a task, which allocates nothing: the number of links of its chain, and in the upper
     * half how often the task has begun again before its end.
     */
    private static final int CHAIN = VeneerLayout.NODE_ALLOCATIONS;
    private static final long BEGUN_AGAIN = 1L << 32;
    private static final int OVERFLOW_OFFSET = VeneerLayout.OVERFLOW;
    private static final int OVERFLOW_SHIFT = VeneerLayout.OVERFLOW_SHIFT;
    private static final int OVERFLOW_WALL = VeneerLayout.OVERFLOW_WALL;
    private static final int LATEST_CHILD = VeneerLayout.NODE_LATEST_CHILD;
    private static final int DEPTH = VeneerLayout.NODE_DEPTH;
    private static final long ADDRESS = (1L << 47) - 1;
    private static final long OVERFLOW = 1L << 47;
    private static final int TAG_SHIFT = 48;
    private static final long IS_TREE = 1L << 63;
    /** No word of a track has this tag. */
    private static final long NO_TAG = 1L << 62;

    /** Makes room for nodes of the current thread's tree. Returns false if there is none. */
    private static native boolean grow(long shard);

    /**
     * The number of the submissions in a context: a node in its lower half, and the number of its
     * thread above. 0 is an unknown context. Returns -1 if there are too many.
     */
    private static native int submission(long context);

    /**
     * Adds to the current node the time during which the current thread was switched out. Returns the
     * moment of this reading; 0 if there is none.
     */
    private static native long switched(long shard);

    /**
     * The address of the time that the agent writes at short intervals
     * ({@code executor/src/data/coarse_clock.rs}); 0 if times are exact.
     */
    private static long coarse;
    /** The tag of the recording if times are those of the coarse clock. */
    private static long fast = NO_TAG;
    /** The tag of the recording. */
    private static long active = NO_TAG;
    /** The number of the recording; 0 if there is none. */
    private static int recording;

    /** Called before a recording begins. */
    static void begin(int number, long coarse) {
        fast = NO_TAG;
        VeneerTask.forgetAll();
        VeneerContexts.coarse = coarse;
        recording = Math.min(number, 0);
        fast = coarse == 0 ? NO_TAG : tag(number);
        active = number < 0 ? tag(number) : NO_TAG;
    }

    /** Called when a recording ends. */
    static void end() {
        fast = NO_TAG;
        active = NO_TAG;
        recording = 0;
        VeneerTask.forgetAll();
    }

    /**
     * Lets the agent read the processor time of the current thread. Returns the time of an event whose
     * time was read as {@code now}. The thread can have been switched out since then: if times are exact,
     * the event is at the end of the time that the agent adds to the current node.
     */
    private static long timeAfterSwitch(long shard, long now) {
        long reading = switched(shard);
        return coarse == 0 ? Math.max(now, reading) : now;
    }

    /** The tag of a recording of contexts, whose number is negative. */
    @ForceInline
    private static long tag(int number) {
        return IS_TREE | (long) (-number & 0x3fff) << TAG_SHIFT;
    }

    private static long now() throws Throwable {
        return coarse != 0 ? U.getLong(null, coarse) : VeneerTrace.now();
    }

    /**
     * Records the entry of a call, and returns the state of the call. It is not inlined: a copy in each
     * method costs the compilers more time than the calls cost.
     */
    @DontInline
    static long enter(long shard, int offset, int number) throws Throwable {
        if (shard > 0) {
            long track = VeneerTrace.track(shard);
            long current = U.getLong(null, track + CURRENT);
            if ((current ^ fast) >>> TAG_SHIFT == 0) {
                long child = U.getLong(null, (current & ADDRESS) + LATEST_CHILD);
                // All children of a node have the same upper half of the key.
                long now = U.getLong(null, coarse);
                if (U.getInt(null, child) == (offset >>> 3) + 1 && !VeneerTrace.wasSwitched(track)) {
                    U.putLong(null, child + CALLS, U.getLong(null, child + CALLS) + 1);
                    U.putLong(null, child + START, now);
                    U.putLong(null, track + CURRENT, current & ~ADDRESS | child);
                    return current;
                }
            }
        }
        return find(shard, offset, number);
    }

    /** As {@link #enter}, for each call. */
    private static long find(long shard, int offset, int number) throws Throwable {
        long track = shard > 0 ? VeneerTrace.track(shard) : 0;
        if (track != 0 && U.getLong(track) != number) {
            track = U.getLong(track) == -number ? 0 : open(shard, number);
        }
        if (track == 0) {
            VeneerRuntime.add(shard, offset, 1);
            return 0;
        }
        // The clock is read before anything is stored, and its call needs more stack than the
        // stores do. So an overflow of the stack happens before the first store.
        long now = now();
        if (VeneerTrace.wasSwitched(track)) {
            now = timeAfterSwitch(shard, now);
        }
        if (U.getLong(track + NESTED) != 0) {
            return enterOverflow(track, number, now);
        }
        long nodes = U.getLong(track + NODES);
        long state = U.getLong(track + CURRENT);
        long current = (state & ADDRESS) - nodes;
        long key = current >>> NODE_SHIFT << 32 | (offset >>> 3) + 1;
        long node = U.getLong(nodes + current + LATEST_CHILD);
        if (U.getLong(node) != key) {
            long child = child(shard, track, current, key);
            if (child == 0) {
                return enterOverflow(track, number, now);
            }
            node = nodes + child;
        }
        U.putLong(node + CALLS, U.getLong(node + CALLS) + 1);
        U.putLong(node + START, now);
        U.putLong(track + CURRENT, tag(number) | node);
        return state;
    }

    /**
     * Opens the tree of the current thread. If a recorded call has started the thread, all its calls
     * are below that one.
     */
    private static long open(long shard, int number) throws Throwable {
        long track = VeneerTrace.openCurrent(shard, number);
        long context = track == 0 ? 0 : VeneerTask.contextOf(Thread.currentThread());
        if (context != 0) {
            enterTask(shard, track, number, context);
        }
        return track;
    }

    /**
     * Remembers in which context the current thread submits a task. Returns whether contexts of this
     * thread are recorded.
     */
    static boolean submitted(Object task) throws Throwable {
        long shard = VeneerRuntime.shard();
        if (task == null || shard <= 0 || recording == 0) {
            return false;
        }
        long track = VeneerTrace.track(shard);
        long current = U.getLong(track + CURRENT);
        if ((current ^ active) << 1 >>> TAG_SHIFT + 1 != 0) {
            return false;
        }
        long nodes = U.getLong(track + NODES);
        long node = (current & ADDRESS) - nodes;
        long links = 0;
        for (long above = node; above != 0; above = parent(nodes, above)) {
            long key = U.getLong(nodes + above);
            if ((key & TASK) != 0) {
                links = U.getLong(nodes + above + CHAIN) & BEGUN_AGAIN - 1;
                if (links >= MAX_CHAIN) {
                    VeneerTask.submit(task, ~(key & TASK - 1));
                    return true;
                }
                break;
            }
        }
        long place = U.getLong(track + THREAD) << 32 | node >>> NODE_SHIFT;
        VeneerTask.submit(task, links + 1 << CHAIN_SHIFT | place);
        return true;
    }

    /**
     * Begins a task in the current thread. Until {@link #taskEnds}, calls are below the context in
     * which it was submitted. Returns whether contexts of this thread are recorded.
     */
    static boolean taskBegins(Object task) throws Throwable {
        long shard = VeneerRuntime.shard();
        int number = recording;
        if (shard <= 0 || number == 0) {
            return false;
        }
        long track = VeneerTrace.track(shard);
        if (U.getLong(track) != number) {
            track = U.getLong(track) == -number ? 0 : open(shard, number);
        }
        return track != 0 && enterTask(shard, track, number, VeneerTask.contextOf(task));
    }

    private static boolean enterTask(long shard, long track, int number, long context) throws Throwable {
        long now = now();
        if (VeneerTrace.wasSwitched(track)) {
            now = timeAfterSwitch(shard, now);
        }
        if (U.getLong(track + NESTED) != 0) {
            return false;
        }
        long submission = context < 0 ? ~context : submission(context << 64 - CHAIN_SHIFT >>> 64 - CHAIN_SHIFT);
        if (submission < 0) {
            return false;
        }
        long nodes = U.getLong(track + NODES);
        long current = (U.getLong(track + CURRENT) & ADDRESS) - nodes;
        long innermost = U.getLong(nodes + current);
        // A thread pool runs a task, and the task runs itself.
        if (current != 0 && (innermost & TASK) != 0 && (innermost & TASK - 1) == submission) {
            long again = nodes + current + CHAIN;
            U.putLong(again, U.getLong(again) + BEGUN_AGAIN);
            return true;
        }
        long child = child(shard, track, current, current >>> NODE_SHIFT << 32 | TASK | submission);
        if (child == 0) {
            return false;
        }
        long node = nodes + child;
        U.putLong(node + CHAIN, context < 0 ? MAX_CHAIN : context >>> CHAIN_SHIFT);
        U.putLong(node + CALLS, U.getLong(node + CALLS) + 1);
        U.putLong(node + START, now);
        U.putLong(track + CURRENT, tag(number) | node);
        return true;
    }

    /** Ends the innermost task of the current thread. Returns whether there is one. */
    static boolean taskEnds() throws Throwable {
        long shard = VeneerRuntime.shard();
        int number = recording;
        if (shard <= 0 || number == 0) {
            return false;
        }
        long track = VeneerTrace.track(shard);
        if (U.getLong(track) != number || U.getLong(track + NESTED) != 0) {
            return false;
        }
        long now = now();
        if (VeneerTrace.wasSwitched(track)) {
            now = timeAfterSwitch(shard, now);
        }
        long nodes = U.getLong(track + NODES);
        long current = (U.getLong(track + CURRENT) & ADDRESS) - nodes;
        long task = current;
        while (task != 0 && (U.getLong(nodes + task) & TASK) == 0) {
            task = parent(nodes, task);
        }
        if (task == 0) {
            return false;
        }
        long again = nodes + task + CHAIN;
        boolean isAgain = U.getLong(again) >= BEGUN_AGAIN;
        if (isAgain) {
            U.putLong(again, U.getLong(again) - BEGUN_AGAIN);
        }
        long left = isAgain ? task : parent(nodes, task);
        while (current != left) {
            current = close(nodes, current, now);
        }
        U.putLong(track + CURRENT, tag(number) | nodes + left);
        return true;
    }

    /** The offset of the parent of a node. */
    private static long parent(long nodes, long node) {
        return U.getLong(nodes + node) >>> 32 << NODE_SHIFT;
    }

    /** Records the end of a call whose entry is recorded. */
    @DontInline
    static void leave(long shard, long state, int recording) throws Throwable {
        if (shard > 0 && (state ^ fast) >>> TAG_SHIFT == 0) {
            long track = VeneerTrace.track(shard);
            long current = U.getLong(null, track + CURRENT);
            if ((current ^ fast) >>> TAG_SHIFT == 0) {
                long node = current & ADDRESS;
                long parent = (state & ADDRESS) - U.getLong(null, track + NODES) >> NODE_SHIFT;
                long now = U.getLong(null, coarse);
                if (U.getLong(null, node) >>> 32 == parent && !VeneerTrace.wasSwitched(track)) {
                    long wall = now - U.getLong(null, node + START);
                    if (wall != 0) {
                        U.putLong(null, node + WALL, U.getLong(null, node + WALL) + wall);
                    }
                    U.putLong(null, node + START, 0);
                    // The caller's node comes from the state. If it came from the node, the next call
                    // would have to wait for it.
                    U.putLong(null, track + CURRENT, state);
                    return;
                }
            }
        }
        end(shard, state, recording);
    }

    /** As {@link #leave}, for each call. */
    private static void end(long shard, long state, int recording) throws Throwable {
        long track = shard > 0 ? VeneerTrace.track(shard) : 0;
        if (track == 0
                || recording >= 0
                || (state ^ tag(recording)) >>> TAG_SHIFT != 0
                || U.getLong(track) != recording) {
            return;
        }
        long now = now();
        if (VeneerTrace.wasSwitched(track)) {
            now = timeAfterSwitch(shard, now);
        }
        long nested = U.getLong(track + NESTED);
        if ((state & OVERFLOW) != 0) {
            long outer = (state & OVERFLOW - 1) - 1;
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
        long caller = (state & ADDRESS) - nodes;
        long current = (U.getLong(track + CURRENT) & ADDRESS) - nodes;
        long depth = U.getLong(nodes + caller + DEPTH);
        while (U.getLong(nodes + current + DEPTH) > depth) {
            current = close(nodes, current, now);
        }
        U.putLong(track + CURRENT, tag(recording) | nodes + current);
    }

    /** Adds the time of the open call of a node, and returns the node of the caller. */
    private static long close(long nodes, long offset, long now) {
        long node = nodes + offset;
        U.putLong(node + WALL, U.getLong(node + WALL) + now - U.getLong(node + START));
        U.putLong(node + START, 0);
        return parent(nodes, offset);
    }

    private static long enterOverflow(long track, int number, long now) {
        long nodes = U.getLong(track + NODES);
        long current = U.getLong(track + CURRENT);
        long node = current & ADDRESS;
        long nested = U.getLong(track + NESTED) + 1;
        long calls = overflow(nodes, node);
        U.putLong(calls, U.getLong(calls) + 1);
        if (nested == 1) {
            U.putLong(nodes + START, now);
            U.putLong(track + CURRENT, current & ~IS_TREE);
        }
        U.putLong(track + NESTED, nested);
        return tag(number) | OVERFLOW | nested;
    }

    /** Ends overflow calls until {@code outer} of them are open. */
    private static void leaveOverflow(long track, long outer, long now) {
        U.putLong(track + NESTED, outer);
        if (outer == 0) {
            long nodes = U.getLong(track + NODES);
            long current = U.getLong(track + CURRENT);
            long node = current & ADDRESS;
            long wall = now - U.getLong(nodes + START);
            long time = overflow(nodes, node) + OVERFLOW_WALL;
            U.putLong(time, U.getLong(time) + wall);
            U.putLong(track + CURRENT, current | IS_TREE);
        }
    }

    /** The address of the overflow of a node. */
    private static long overflow(long nodes, long node) {
        return nodes + OVERFLOW_OFFSET + (node - nodes >>> OVERFLOW_SHIFT);
    }

    /** Counts an allocation at the node of the innermost open call. */
    @ForceInline
    static void allocation(long shard) {
        if (shard > 0) {
            long current = U.getLong(null, VeneerTrace.track(shard) + CURRENT);
            // While overflow calls are open, the word has no bit IS_TREE.
            if ((current ^ active) << 1 >>> TAG_SHIFT + 1 == 0) {
                long count = (current & ADDRESS) + ALLOCATIONS;
                U.putLong(null, count, U.getLong(null, count) + 1);
            }
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
            // The root is nobody's child, and its key that of no method.
            U.putLong(node + LATEST_CHILD, nodes);
            // A reader takes a node without a key for the end of the tree.
            U.putLongRelease(null, node, key);
            U.putLong(free, child);
            U.putLong(track + USED, child + (1L << NODE_SHIFT));
        }
        U.putLong(nodes + parent + LATEST_CHILD, nodes + child);
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
