package java.lang.invoke;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicLong;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * Values that belong to objects: what {@code per_object(0)} gives.
 *
 * <pre>
 *   object ─▶ its identity hash ─▶ one of the NEAR places from there on:  hash, value  (off the heap)
 *                                                                         weak reference to the object
 * </pre>
 *
 * An object's place is the one whose reference refers to it, so its value is never that of another; and since the reference is weak, the collector makes the place
 * free again when nobody else holds the object. No lock is taken. Memory of the heap is allocated once for each object that gets a value, and only
 * where there is plenty.
 */
final class VeneerObjects {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Tables at most, of all plans so far. */
    private static final int TABLES = 32;

    /** Places that can be those of an object. */
    private static final int NEAR = 32;

    private static final int SPINS = 1_000;

    @Stable private static final VeneerObjects[] ALL = new VeneerObjects[TABLES];

    private static int made;

    // A place, in 16 bytes: state and value. In the lower half of the state the hash, in the upper how often the place was taken, so that it is never
    // taken for what it was before. Identity hashes are positive; negated bit by bit, one says that the place is set aside.
    private static final int PLACE = 16;
    private static final int VALUE = 8;
    /** Nobody had the place so far: there are none behind it. */
    private static final int NEVER = 0;
    /** Somebody is about to take it. */
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

    // ---- for the agent -----------------------------------------------------------------------------------------------

    /** A new table for so many objects: its number, or -1 where there are too many tables. */
    static synchronized long make(long objects) {
        if (made == TABLES) {
            return -1;
        }
        int places = Math.max(2 * NEAR, Integer.highestOneBit((int) (2 * objects) - 1) << 1);
        ALL[made] = new VeneerObjects(places);
        return made++;
    }

    /** How many objects have a value in a table. */
    static long size(long table) {
        VeneerObjects all = ALL[(int) table];
        long size = 0;
        for (int n = 0; all != null && n < all.objects.length; n++) {
            int hash = (int) U.getLongAcquire(null, all.place(n));
            size += hash > 0 && !all.objects[n].refersTo(null) ? 1 : 0;
        }
        return size;
    }

    /** How many found no place in it. */
    static long lost(long table) {
        VeneerObjects all = ALL[(int) table];
        return all == null ? 0 : all.lost.get();
    }

    /** When the agent leaves: no object has a value any more. */
    static synchronized void forget() {
        java.util.Arrays.fill(ALL, null);
    }

    // ---- for code ----------------------------------------------------------------------------------------------------

    @ForceInline
    static long get(long table, Object o) {
        VeneerObjects all = ALL[(int) table];
        if (o == null || all == null) {
            return 0;
        }
        int n = all.find(o, System.identityHashCode(o));
        // The value is written before the reference.
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

    /** The place of an object; -1 where it has none. */
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
                // The first of them has come since this passed it.
                i = -1;
            }
        }
        return -1;
    }

    /**
     * Takes a place for an object that has none, if there is room, and gives it the value. Where another thread that brings the same object was held up in taking
     * one, there are two then; all who look find the first, which stays, and it is as if that thread had come last.
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
                if (!VeneerRuntime.hasRoom()) {
                    break;
                }
                reference = new WeakReference<>(o);
            }
            if (!U.compareAndSetLong(null, place, word, with(word, BUSY))) {
                // Somebody was faster: maybe with the same object.
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

    /** Of several places of an object all but the first are set aside, until it is gone. */
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

    /** The state of a place, when whoever takes it has taken it; BUSY where that takes too long. */
    private static long settled(long place) {
        long word = U.getLongAcquire(null, place);
        for (int i = 0; (int) word == BUSY && i < SPINS; i++) {
            Thread.onSpinWait();
            word = U.getLongAcquire(null, place);
        }
        return word;
    }

    /** A state with another lower half. */
    private static long with(long word, int low) {
        return word >>> 32 << 32 | low & 0xffff_ffffL;
    }
}
