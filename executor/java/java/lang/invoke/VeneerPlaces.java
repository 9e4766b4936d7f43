package java.lang.invoke;

import jdk.internal.misc.Unsafe;

/**
 * Claims places of the hash tables of {@link VeneerTables} and {@link VeneerTexts}. Each place begins
 * with a state.
 *
 * <p>The kernel may stop a thread at any instruction, also between the claim of a place and its last
 * word. Other threads wait a while for such a thread. Then they complete its place: no keys get two
 * places, and a table never has more entries than its limit.
 *
 * <p>The state of a place that is being written is a hash of what is written, so that a thread knows
 * whether the place will be its own. A thread takes two equal hashes of 61 bits for equal keys only
 * if it waited for the other thread in vain.
 */
final class VeneerPlaces {
    private VeneerPlaces() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    /** Turns that a thread waits for another one. */
    static final int SPINS = 1_000;
    /** A lock with an owner. */
    private static final long HELD = 1;
    /** A lock with an owner for whom a thread has waited in vain. */
    private static final long GIVEN_UP = 2;
    /** Nanoseconds that a thread waits for reservations and locks of others. A time slice is a few milliseconds. */
    private static final long WAIT_NS = 20_000_000;
    /** One claim that is not complete, in the word after a limit. */
    private static final long PENDING = 1L << 32;

    /** The state of a place while a thread writes it. {@code hash} depends on all that is written. */
    static long writing(long hash) {
        return hash & -8 | 1;
    }

    /**
     * Whether a thread is writing a place with this state. All other states have the second bit, or
     * are zero.
     */
    static boolean isWriting(long state) {
        return (state & 3) == 1;
    }

    /** Waits while the state of a place is {@code busy}, and returns it; {@code busy} if that takes too long. */
    static long settled(long place, long busy) {
        long state = U.getLongAcquire(null, place);
        for (int i = 0; state == busy && i < SPINS; i++) {
            Thread.onSpinWait();
            state = U.getLongAcquire(null, place);
        }
        return state;
    }

    /**
     * Reserves one of the entries of a table; false if the table is full. {@code limit} is the address
     * of the limit for the entries. The next word has the number of entries in its lower half, and in
     * its upper half how many of them are only reserved. {@link #done} must follow.
     */
    static boolean reserve(long limit) {
        long most = U.getLong(limit);
        long end = 0;
        while (true) {
            long word = U.getLongAcquire(null, limit + 8);
            if ((int) word < most) {
                if (U.compareAndSetLong(null, limit + 8, word, word + PENDING + 1)) {
                    return true;
                }
            } else if (word < PENDING) {
                return false;
            } else if (end == 0) {
                // Another thread may give its reservation back.
                end = System.nanoTime() + WAIT_NS;
            } else if (System.nanoTime() - end < 0) {
                pause();
            } else if (U.compareAndSetLong(null, limit + 8, word, (int) word)) {
                // The threads with reservations may never continue. Nobody waits for them again.
                return false;
            }
        }
    }

    /**
     * Takes a lock, which is 0 when it is free; false if another thread holds it for too long. {@link
     * #unlock} must follow. Once a thread has waited in vain, the lock is {@link #GIVEN_UP} until its owner
     * continues, and nobody else waits for it: a debugger may have suspended the owner.
     */
    static boolean lock(long lock) {
        long end = 0;
        for (int turn = 0; ; turn++) {
            long state = U.getLongAcquire(null, lock);
            if (state == 0 && U.compareAndSetLong(null, lock, 0, HELD)) {
                return true;
            } else if (state == GIVEN_UP) {
                return false;
            } else if (turn < SPINS) {
                Thread.onSpinWait();
            } else if (end == 0) {
                // The owner is likely to wait for a processor.
                end = System.nanoTime() + WAIT_NS;
            } else if (System.nanoTime() - end < 0) {
                pause();
            } else {
                U.compareAndSetLong(null, lock, HELD, GIVEN_UP);
            }
        }
    }

    static void unlock(long lock) {
        U.putLongRelease(null, lock, 0);
    }

    /** Lets another thread continue, which may wait for this processor. */
    private static void pause() {
        if (VeneerRuntime.isVirtual()) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    /** Ends a reservation. {@code used} states whether an entry was written. */
    static void done(long limit, boolean used) {
        long word;
        long next;
        do {
            word = U.getLongAcquire(null, limit + 8);
            next = (word < PENDING ? word : word - PENDING) - (used ? 0 : 1);
        } while (!U.compareAndSetLong(null, limit + 8, word, next));
    }
}
