package java.lang.invoke;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicLong;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * Tables of values that belong to objects: {@code per_object(0)} in plans.
 *
 * <pre>
 *   object ─▶ its identity hash ─▶ one of the NEAR places from there on:  hash, value  (off the heap)
 *                                                                         weak reference to the object
 * </pre>
 *
 * An object's place is the one whose reference refers to it, so no object gets the value of another
 * one. The reference is weak, so a place is free again after its object has become unreachable. No
 * lock is taken. A reference is allocated once for each object that gets a value, and only if the
 * heap has room.
 */
final class VeneerObjects {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Limit for the tables of all plans in the life of the JVM. */
    private static final int TABLES = 32;

    /** Number of places that are searched for an object. */
    private static final int NEAR = 32;

    private static final int SPINS = 1_000;

    @Stable private static final VeneerObjects[] ALL = new VeneerObjects[TABLES];

    private static int made;

    // A place, in 16 bytes: state and value. The lower half of the state is the object's identity
    // hash. The upper half counts how often the place was claimed, so that a compare-and-set fails
    // if the place was claimed again. Identity hashes are positive. The complement of a hash means
    // that the place is set aside.
    private static final int PLACE = 16;
    private static final int VALUE = 8;
    /** The place was never claimed, so a search ends here. */
    private static final int NEVER = 0;
    /** A thread is claiming the place. */
    private static final int BUSY = -1;

    private final long first;
    private final WeakReference<Object>[] objects;
    private final AtomicLong lost = new AtomicLong();

    @SuppressWarnings({"unchecked", "rawtypes"})
    private VeneerObjects(int places) {
        objects = new WeakReference[places];
        first = U.allocateMemory((long) PLACE * places);
        U.setMemory(first, (long) PLACE * places, (byte) 0);
    }

    // ---- for the agent --------------------------------------------------------------------------

    /**
     * Creates a table for this number of objects. Returns its number, or -1 if there are too many
     * tables.
     */
    static synchronized long make(long objects) {
        if (made == TABLES) {
            return -1;
        }
        int places = Math.max(2 * NEAR, Integer.highestOneBit((int) (2 * objects) - 1) << 1);
        ALL[made] = new VeneerObjects(places);
        return made++;
    }

    /** The number of objects with a value in a table. */
    static long size(long table) {
        VeneerObjects all = ALL[(int) table];
        long size = 0;
        for (int n = 0; all != null && n < all.objects.length; n++) {
            int hash = (int) U.getLongAcquire(null, all.place(n));
            size += hash > 0 && !all.objects[n].refersTo(null) ? 1 : 0;
        }
        return size;
    }

    /** The number of times that an object found no place in a table. */
    static long lost(long table) {
        VeneerObjects all = ALL[(int) table];
        return all == null ? 0 : all.lost.get();
    }

    /** Drops all tables. Called by the agent when it unloads. */
    static synchronized void forget() {
        java.util.Arrays.fill(ALL, null);
    }

    // ---- for probes -------------------------------------------------------------------------------

    @ForceInline
    static long get(long table, Object o) {
        VeneerObjects all = ALL[(int) table];
        if (o == null || all == null) {
            return 0;
        }
        int n = all.find(o, System.identityHashCode(o));
        // The value is written before the reference, so this order of reads sees it.
        U.loadFence();
        return n < 0 ? 0 : U.getLong(all.place(n) + VALUE);
    }

    @ForceInline
    static void set(long table, Object o, long value) {
        VeneerObjects all = ALL[(int) table];
        if (o == null || all == null) {
            return;
        }
        int hash = System.identityHashCode(o);
        int n = all.find(o, hash);
        if (n >= 0) {
            U.putLong(all.place(n) + VALUE, value);
        } else {
            all.take(o, hash, value);
        }
    }

    @ForceInline
    private long place(int n) {
        return first + (long) PLACE * n;
    }

    /** The index of an object's place; -1 if it has none. */
    @ForceInline
    private int find(Object o, int hash) {
        int n = hash & objects.length - 1;
        return (int) U.getLongAcquire(null, place(n)) == hash && objects[n].refersTo(o) ? n : search(o, hash);
    }

    private int search(Object o, int hash) {
        for (int i = 0; i < NEAR; i++) {
            int n = hash + i & objects.length - 1;
            int state = (int) U.getLongAcquire(null, place(n));
            if (state == hash && objects[n].refersTo(o)) {
                return n;
            }
            if (state == NEVER) {
                return -1;
            }
            if (state == ~hash && objects[n].refersTo(o)) {
                // The object has an earlier place, which was claimed after this search passed it.
                i = -1;
            }
        }
        return -1;
    }

    /**
     * Claims a place for an object that has none, and sets the value. If another thread was delayed
     * while it claimed a place for the same object, the object has two places. All threads find the
     * first one, which remains, as if its thread had written last.
     */
    private void take(Object o, int hash, long value) {
        WeakReference<Object> reference = null;
        for (int i = 0; i < NEAR; i++) {
            int n = hash + i & objects.length - 1;
            long place = place(n);
            long word = settled(place);
            int state = (int) word;
            if (state == hash && objects[n].refersTo(o)) {
                U.putLong(place + VALUE, value);
                return;
            }
            if (state == ~hash && objects[n].refersTo(o)) {
                i = -1;
                continue;
            }
            if (state == BUSY || state != NEVER && !objects[n].refersTo(null)) {
                continue;
            }
            if (reference == null) {
                if (!VeneerHeap.hasRoom()) {
                    break;
                }
                reference = new WeakReference<>(o);
            }
            if (!U.compareAndSetLong(null, place, word, with(word, BUSY))) {
                // Another thread was faster, perhaps with the same object.
                i--;
            } else {
                U.putLong(place + VALUE, value);
                U.storeFence();
                objects[n] = reference;
                U.putLongRelease(null, place, with(word + (1L << 32), hash));
                U.fullFence();
                keepFirst(o, hash);
                return;
            }
        }
        lost.incrementAndGet();
    }

    /** Sets all places of an object but the first aside, until the object is unreachable. */
    private void keepFirst(Object o, int hash) {
        boolean found = false;
        for (int i = 0; i < NEAR; i++) {
            int n = hash + i & objects.length - 1;
            long word = U.getLongAcquire(null, place(n));
            if ((int) word == hash && objects[n].refersTo(o)) {
                if (found) {
                    U.compareAndSetLong(null, place(n), word, with(word, ~hash));
                }
                found = true;
            }
        }
    }

    /**
     * Waits until no thread is claiming a place, and returns its state; BUSY if that takes too
     * long.
     */
    private static long settled(long place) {
        long word = U.getLongAcquire(null, place);
        for (int i = 0; (int) word == BUSY && i < SPINS; i++) {
            Thread.onSpinWait();
            word = U.getLongAcquire(null, place);
        }
        return word;
    }

    /** Returns a state with another lower half. */
    private static long with(long word, int low) {
        return word >>> 32 << 32 | low & 0xffff_ffffL;
    }
}
