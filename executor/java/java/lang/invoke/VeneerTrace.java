package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * Writes the calls of each thread to the thread's event trace ({@code docs/traces.md}). Versions
 * call the public methods on application threads.
 *
 * <p>A thread with a counter shard of its own has a <em>track</em>: the position in the mapped
 * segment of its events file, the time of its latest event, and the number of its open calls. Only
 * the thread itself writes to its track and to its segment, so an event is one comparison and four
 * plain stores. The agent opens tracks and maps segments ({@code executor/src/data/recorder.rs}).
 *
 * <p>If the number of the recording is negative, the recording is one of calling contexts, and
 * {@code VeneerContexts} does the work.
 *
 * <p>The state of a call is 0 if its entry is not recorded. Otherwise it has the number of the
 * recording in the upper half, and in the lower half the number of open calls, this one included.
 */
public final class VeneerTrace {
    private VeneerTrace() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");
    private static final int AT = VeneerLayout.TRACK_AT;
    private static final int END = VeneerLayout.TRACK_END;
    private static final int LAST = VeneerLayout.TRACK_LAST;
    private static final int DEPTH = VeneerLayout.TRACK_DEPTH;
    private static final int SWITCH = VeneerLayout.TRACK_SWITCH;
    private static final int RUN = VeneerLayout.TRACK_RUN;
    private static final int FRESH = VeneerLayout.TRACK_FRESH;
    private static final long DEPTH_MASK = 0xffff_ffffL;
    /** Limit for the characters of a string in an event of a plan. */
    private static final int EVENT_TEXT = 256;

    /** The number of the recording, negative if contexts are recorded; 0 if there is none. */
    private static volatile int recording;
    /**
     * Address of the track of a shard at address 0. Shards are {@code 1 << SHARD_SHIFT} bytes apart, so the
     * upper bits of their addresses differ by their numbers, wherever the first one is.
     */
    private static long tracks;
    /**
     * Whether times are ticks of the processor's counter, and not nanoseconds. Set before the first
     * recording, and for good, because the files of a recording have times of one clock.
     */
    @Stable private static boolean isByCounter;
    /** The value of a track's word of switches while the thread was not switched out. */
    private static long mark;
    /** The duration from which on calls are recorded, in units of the clock; 0 for all calls. */
    private static long shortest;
    /** The number under which empty calls are recorded. It is a field because {@link #recording} is one. */
    private static volatile int calibration = VeneerLayout.CALIBRATION;

    /** Chooses the clock of all recordings. Returns 1 if it is the processor's counter. */
    static long chooseClock() {
        isByCounter = VeneerClock.isLinked();
        return isByCounter ? 1 : 0;
    }

    /** The time of an event. */
    @ForceInline
    static long now() throws Throwable {
        return isByCounter ? VeneerClock.ticks() : System.nanoTime();
    }

    /** Sets the addresses of the track of shard 0 and of shard 0. */
    private static void setTracks(long tracks, long shards) {
        VeneerTrace.tracks = tracks - (shards >>> VeneerLayout.SHARD_SHIFT) * VeneerLayout.TRACK_BYTES;
    }

    /**
     * Begins a recording: all calls that begin from now on are recorded. Called by the agent. {@code
     * coarse} is the address of the clock of contexts, or 0.
     */
    static void begin(long tracks, long shards, int number, long mark, long shortest, long coarse) {
        VeneerTrace.shortest = shortest;
        VeneerContexts.begin(number, coarse);
        VeneerTrace.mark = mark;
        setTracks(tracks, shards);
        recording = number;
    }

    /** Ends the recording. A thread that has just begun to write an event may still write it. */
    static void end() {
        VeneerContexts.end();
        recording = 0;
        shortest = 0;
    }

    /**
     * Records calls that do nothing, with the code of a recorded call. The agent derives the cost of
     * recording from their times. Called by a thread of the agent while there is no recording.
     * Returns the number of calls, which is 0 if those of this thread cannot be recorded.
     */
    static long calibrate(long tracks, long shards, long mark, int calls) throws Throwable {
        VeneerTrace.mark = mark;
        setTracks(tracks, shards);
        long own = VeneerRuntime.shard();
        if (own <= 0 || U.getLong(track(own)) != calibration && openCurrent(own, calibration) == 0) {
            return 0;
        }
        for (int i = 0; i < calls; i++) {
            // A version looks for the shard in each call, too.
            long shard = VeneerRuntime.shard();
            int number = calibration;
            long state = number == 0 ? 0 : enter(shard, 0, number);
            if (state != 0) {
                leave(shard, state, VeneerLayout.TRACE_EXIT, calibration);
            }
        }
        return calls;
    }

    /**
     * Opens the track of the current thread for a recording. Returns its address, or 0 if the calls
     * of the thread cannot be recorded.
     */
    private static native long open(long shard, int number, long tid, String name, String group);

    /**
     * Writes an event for which the segment has no room, or whose time does not fit into its word,
     * or before which the thread was switched out.
     */
    private static native void write(long shard, int kind, long id, long now);

    /** Writes an event of a plan; the arguments are those of {@link #event}. */
    private static native void writeEvent(long shard, Object label, long kind, long bits, Object text, long now);

    /**
     * Writes an event of a plan into the trace of the current thread, if one is recorded.
     *
     * @param kind the kind of its value, one of {@code VeneerLayout.VALUE_…}
     * @param bits an integer, the bits of a floating-point number, or the identity hash of an object
     * @param text a string, or the class of an object
     */
    static void event(Object label, long kind, long bits, String text) throws Throwable {
        int number = recording;
        long shard = number > 0 ? VeneerRuntime.shard() : 0;
        if (shard <= 0) {
            return;
        }
        long track = track(shard);
        if (U.getLong(track) != number && (U.getLong(track) == -number || openCurrent(shard, number) == 0)) {
            return;
        }
        String shown = text == null || text.length() <= EVENT_TEXT ? text : text.substring(0, EVENT_TEXT);
        writeEvent(shard, label, kind, bits, shown, now());
    }

    /** Records the entry of a call, and returns the state of the call. */
    @ForceInline
    public static long entry(long shard, int offset, long state) throws Throwable {
        int number = recording;
        if (number < 0) {
            return VeneerContexts.enter(shard, offset, number);
        }
        return number == 0 ? 0 : enter(shard, offset, number);
    }

    /** Records the end of a call whose entry is recorded. */
    @ForceInline
    public static void exit(long shard, int offset, long state) throws Throwable {
        if (state < 0) {
            VeneerContexts.leave(shard, state, recording);
        } else if (state != 0) {
            leave(shard, state, VeneerLayout.TRACE_EXIT, recording);
        }
    }

    /** Records the end, by an exception, of a call whose entry is recorded. */
    @ForceInline
    public static void unwind(long shard, int offset, long state) throws Throwable {
        if (state < 0) {
            VeneerContexts.leave(shard, state, recording);
        } else if (state != 0) {
            leave(shard, state, VeneerLayout.TRACE_THROW, recording);
        }
    }

    /** Records an allocation of the innermost open call. */
    @ForceInline
    public static void allocation(long shard) {
        VeneerContexts.allocation(shard);
    }

    private static long enter(long shard, int offset, int number) throws Throwable {
        long track = shard > 0 ? track(shard) : 0;
        if (track != 0 && U.getLong(track) != number) {
            track = U.getLong(track) == -number ? 0 : openCurrent(shard, number);
        }
        if (track == 0) {
            VeneerRuntime.add(shard, offset, 1);
            return 0;
        }
        // The clock is read before anything is stored, and its call needs more stack than the
        // stores do. So an overflow of the stack happens before the first store.
        long now = now();
        long delta = now - U.getLong(track + LAST);
        long at = U.getLong(track + AT);
        long id = offset >>> 3;
        if (at == U.getLong(track + END) || delta >>> 32 != 0 || wasSwitched(track)) {
            write(shard, VeneerLayout.TRACE_ENTRY, id, now);
            return state(track, number);
        }
        if (shortest != 0) {
            noteEntry(track, at);
        }
        append(track, at, now, delta << 32 | id << 8 | VeneerLayout.TRACE_ENTRY);
        U.putLong(track + DEPTH, U.getLong(track + DEPTH) + 1);
        return state(track, number);
    }

    /**
     * Whether the thread was switched out since the latest reading of its clock. The kernel changes
     * the word ({@code processor_clock.rs}). A time that was read before this question is valid if
     * the answer is no, so the word is read after the time.
     */
    @ForceInline
    static boolean wasSwitched(long track) {
        return U.getLongVolatile(null, U.getLong(track + SWITCH)) != mark;
    }

    private static long state(long track, int number) {
        return (long) number << 32 | U.getLong(track + DEPTH) & DEPTH_MASK;
    }

    private static void leave(long shard, long state, int kind, int current) throws Throwable {
        int number = (int) (state >>> 32);
        long track = shard > 0 ? track(shard) : 0;
        if (track == 0 || number != current || U.getLong(track) != number) {
            return;
        }
        long now = now();
        long depth = state & DEPTH_MASK;
        long open = U.getLong(track + DEPTH);
        if (open == depth || closeCalls(shard, track, open, depth, now) == depth) {
            close(shard, track, depth, kind, now);
        }
    }

    /**
     * Ends the calls inside the one with this depth, and returns the number of open calls. The ends
     * are missing if the instrument was removed from their methods meanwhile.
     */
    private static long closeCalls(long shard, long track, long open, long depth, long now) {
        while (open > depth) {
            close(shard, track, open, VeneerLayout.TRACE_EXIT, now);
            open = U.getLong(track + DEPTH);
        }
        return open;
    }

    /** Records the end of the innermost of {@code open} calls. */
    private static void close(long shard, long track, long open, int kind, long now) {
        long delta = now - U.getLong(track + LAST);
        long at = U.getLong(track + AT);
        if (delta < shortest && withdraw(shard, track, at)) {
            return;
        }
        if (at == U.getLong(track + END) || delta >>> 56 != 0 || wasSwitched(track)) {
            write(shard, kind, 0, now);
            return;
        }
        append(track, at, now, delta << 8 | kind);
        U.putLong(track + DEPTH, open - 1);
    }

    /** Notes where an entry is, so that it can be withdrawn. */
    private static void noteEntry(long track, long at) {
        if (U.getLong(track + FRESH) != at) {
            U.putLong(track + RUN, at);
        }
        U.putLong(track + FRESH, at + 8);
    }

    /**
     * Takes back the entry of a call that ends now, if it is the latest event of the thread. So the
     * call has no recorded callee and no value. Counts the call, and returns whether it did so.
     */
    private static boolean withdraw(long shard, long track, long at) {
        if (U.getLong(track + FRESH) != at) {
            return false;
        }
        long word = U.getLong(at - 8);
        U.putLongRelease(null, at - 8, 0);
        U.putLong(track + LAST, U.getLong(track + LAST) - (word >>> 32));
        U.putLong(track + AT, at - 8);
        U.putLong(track + DEPTH, U.getLong(track + DEPTH) - 1);
        // The event before it is an entry, too, if it belongs to the same run.
        U.putLong(track + FRESH, at - 8 > U.getLong(track + RUN) ? at - 8 : 0);
        VeneerRuntime.add(shard, (int) ((word >>> 8 & 0xff_ffff) << 3), 1);
        return true;
    }

    /**
     * Stores an event. The words of a segment are stored in their order, because a reader takes the
     * first zero word for the end.
     */
    @ForceInline
    private static void append(long track, long at, long now, long word) {
        U.putLongRelease(null, at, word);
        U.putLong(track + LAST, now);
        U.putLong(track + AT, at + 8);
    }

    /** Address of the track of a shard. */
    @ForceInline
    static long track(long shard) {
        return tracks + (shard >>> VeneerLayout.SHARD_SHIFT) * VeneerLayout.TRACK_BYTES;
    }

    static long openCurrent(long shard, int number) {
        // These methods are final, so no code of the application runs.
        Thread thread = Thread.currentThread();
        ThreadGroup group = thread.getThreadGroup();
        return open(shard, number, U.getLong(thread, TID), thread.getName(), group == null ? "" : group.getName());
    }
}
