package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The <em>origin</em> of an object is the number of the instruction that allocated it, if that instruction is
 * recorded. {@link VeneerMemory} stores it in the header of a new object, and counts accesses by it.
 *
 * <p><b>Place.</b> The first word of an object, its mark, has 22 upper bits which HotSpot does not use unless
 * class pointers are in the mark (compact headers). The JVM keeps the whole mark of an object that has an
 * identity hash: when it moves the object, when a monitor replaces the mark, and during a full collection. So
 * the object gets a hash together with its origin. The mark changes by one compare-and-set, as when the JVM
 * itself computes a hash.
 *
 * <p><b>Monitors.</b> The mark of a locked object may be elsewhere. The thread that holds the monitor can
 * read it there. Another thread cannot do so safely: the origin is then {@link #LOCKED}.
 *
 * <p>{@link #prepare} tries all this on objects of its own, because the form of headers is no interface of the
 * JVM. If anything is otherwise, no header is ever written.
 */
final class VeneerOrigins {
    private VeneerOrigins() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    /** The origin of an object that a thread without its monitor finds locked. */
    static final int LOCKED = VeneerLayout.ORIGIN_LOCKED;
    /** The first bit of the origin in a mark. */
    private static final int SHIFT = 42;
    private static final int LOCK_BITS = 3;
    /** The lowest bits of a mark that can be changed: no lock, no bias (JDK 17). */
    private static final int NEUTRAL_BITS = 7;
    private static final int UNLOCKED = 1;
    private static final int STACK_LOCKED = 0;
    private static final int INFLATED = 2;
    private static final long HASH_MASK = 0x7fff_ffffL;
    private static final long MIX = 0x9e37_79b9_7f4a_7c15L;
    /** The first and the last bit at which an identity hash may begin. */
    private static final int FIRST_HASH_SHIFT = 7;
    private static final int LAST_HASH_SHIFT = SHIFT - 31;
    private static final int TRIED_OBJECTS = 16;

    /** The first bit of the identity hash in a mark; 0 if headers have an unknown form. */
    @Stable private static int hashShift;
    /** Whether the mark of an object stays in it while it is locked without a monitor. */
    @Stable private static boolean marksStay;
    /** Whether the mark stays in an object with a monitor: the JVM has a table of monitors (UseObjectMonitorTable). */
    @Stable private static boolean monitorsAreElsewhere;

    /** Finds out the form of headers. Returns whether objects can have origins. */
    static boolean prepare() {
        if (hashShift == 0) {
            int shift = findHashShift();
            if (shift != 0) {
                hashShift = shift;
                marksStay = marksStay();
                monitorsAreElsewhere = monitorsAreElsewhere();
                if (!keepsOrigins()) {
                    hashShift = 0;
                }
            }
        }
        return hashShift != 0;
    }

    /** The only shift at which all of some objects have their hashes; 0 if there is none. */
    private static int findHashShift() {
        int found = 0;
        for (int shift = FIRST_HASH_SHIFT; shift <= LAST_HASH_SHIFT; shift++) {
            boolean fits = true;
            for (int i = 0; i < TRIED_OBJECTS && fits; i++) {
                Object o = i % 2 == 0 ? new Object() : new int[i];
                boolean isNew = U.getLong(o, 0L) == UNLOCKED;
                int hash = System.identityHashCode(o);
                fits = isNew && U.getLong(o, 0L) == ((long) hash << shift | UNLOCKED);
            }
            if (fits) {
                found = shift;
            }
        }
        return found;
    }

    private static boolean marksStay() {
        Object o = new Object();
        stamp(o, 77, 1);
        synchronized (o) {
            long mark = U.getLong(o, 0L);
            return (mark & LOCK_BITS) == STACK_LOCKED && mark >>> SHIFT == 77;
        }
    }

    private static boolean monitorsAreElsewhere() {
        Object o = new Object();
        // No address has this bit.
        int origin = VeneerLayout.MAX_ORIGIN;
        stamp(o, origin, 2);
        synchronized (o) {
            inflate(o);
            long mark = U.getLong(o, 0L);
            return (mark & LOCK_BITS) == INFLATED && mark >>> SHIFT == origin;
        }
    }

    /** Gives a locked object a monitor: a thread that waits needs one. */
    private static void inflate(Object o) {
        // An interrupted thread would not wait.
        boolean isInterrupted = Thread.interrupted();
        try {
            o.wait(1);
        } catch (InterruptedException e) {
            isInterrupted = true;
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether objects keep origin and hash in each state of their monitors. */
    private static boolean keepsOrigins() {
        for (int i = 0; i < TRIED_OBJECTS; i++) {
            Object o = i % 2 == 0 ? new Object() : new long[i];
            int origin = 5 << i;
            if (i % 4 == 0) {
                System.identityHashCode(o);
            }
            stamp(o, origin, i);
            int hash = System.identityHashCode(o);
            boolean isKept = origin(o) == origin;
            synchronized (o) {
                isKept &= origin(o) == origin && System.identityHashCode(o) == hash;
                synchronized (o) {
                    isKept &= origin(o) == origin;
                }
                inflate(o);
                isKept &= origin(o) == origin && System.identityHashCode(o) == hash;
            }
            if (!isKept) {
                return false;
            }
        }
        return true;
    }

    /**
     * Stores the origin of a new object in its header.
     *
     * @param seed a number that differs from object to object: from it follows the identity hash
     */
    @DontInline
    static void stamp(Object o, int origin, long seed) {
        int shift = hashShift;
        long mark = U.getLong(o, 0L);
        if (shift == 0 || origin == 0 || (mark & NEUTRAL_BITS) != UNLOCKED || mark >>> SHIFT != 0) {
            return;
        }
        long stamped = mark | (long) origin << SHIFT;
        if ((mark >>> shift & HASH_MASK) == 0) {
            long hash = seed * MIX >>> 33;
            stamped |= (hash == 0 ? 1 : hash) << shift;
        }
        // If another thread has just locked or hashed the object, it has no origin.
        U.compareAndSetLong(o, 0L, mark, stamped);
    }

    /** The origin of an object; 0 if it is not known. */
    @ForceInline
    static int origin(Object o) {
        long mark = U.getLong(o, 0L);
        return (mark & NEUTRAL_BITS) == UNLOCKED ? (int) (mark >>> SHIFT) : ofLocked(o, mark);
    }

    /** Whether the mark of a locked object is that of the unlocked one but for its lowest bits. */
    private static boolean staysInObject(long mark) {
        long state = mark & LOCK_BITS;
        return state == STACK_LOCKED && marksStay || state == INFLATED && monitorsAreElsewhere;
    }

    @DontInline
    private static int ofLocked(Object o, long seen) {
        if (hashShift == 0) {
            return 0;
        }
        if (staysInObject(seen)) {
            return (int) (seen >>> SHIFT);
        }
        if (!Thread.holdsLock(o)) {
            return LOCKED;
        }
        // This thread holds the monitor, so that the place of the mark is not freed meanwhile: a word of its
        // own stack, or the first word of the monitor.
        long mark = U.getLong(o, 0L);
        int state = (int) (mark & LOCK_BITS);
        long place = state == INFLATED ? mark - INFLATED : mark;
        if (mark == 0 || state != INFLATED && state != STACK_LOCKED) {
            return LOCKED;
        }
        if (staysInObject(mark)) {
            return (int) (mark >>> SHIFT);
        }
        long displaced = U.getLong(place);
        return (displaced & LOCK_BITS) == UNLOCKED ? (int) (displaced >>> SHIFT) : LOCKED;
    }
}
