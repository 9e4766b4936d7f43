package java.lang.invoke;

import jdk.internal.misc.Unsafe;

/**
 * What threads keep for themselves from one point to another: a stack for each thread in a table, for values and for objects.
 */
public final class VeneerThreads {
    private VeneerThreads() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");
    private static final int HEAD = VeneerTables.HEAD;
    private static final int VALUES = VeneerTables.VALUES;

    // A stack for each thread. A place: the thread's id and below it, in 16 bits, how many values it has there; DEPTH values. Objects lie in
    // an array beside it, whose number is in the head. A thread finds its place among the SPREAD that follow the one of its id. Only
    // a place on which there is nothing goes to another thread, and only its own thread changes one on which there is something.
    private static final int DEPTH = VeneerLayout.DEPTH;
    private static final int SPREAD = 8;
    private static final long DEEPEST = 0xffff;
    private static volatile Object[][] kept = new Object[0][];

    /** Room for the objects of a table with so many places; called by the agent. */
    static synchronized void keep(long table, long places) {
        Object[][] more = java.util.Arrays.copyOf(kept, kept.length + 1);
        more[kept.length] = new Object[(int) places * DEPTH];
        U.putLong(table + VeneerLayout.TABLE_PARTS, kept.length);
        kept = more;
    }

    /** The number of the place on which a thread has something; -1 where there is none. */
    private static long own(long table, long thread) {
        long places = U.getLong(table);
        long size = U.getLong(table + 8);
        for (long i = 0; i < SPREAD; i++) {
            long n = thread + i & places - 1;
            long state = U.getLong(table + HEAD + (n + 1) * size);
            if (state >>> 16 == thread && (state & DEEPEST) > 0) {
                return n;
            }
        }
        return -1;
    }

    /** The place on which it puts something: its own, or one on which there is nothing. What there was on it before: in the lower 16 bits. */
    private static long claim(long table, long thread) {
        long places = U.getLong(table);
        long size = U.getLong(table + 8);
        long n = own(table, thread);
        if (n >= 0) {
            long place = table + HEAD + (n + 1) * size;
            long state = U.getLong(place);
            if ((state & DEEPEST) == DEEPEST) {
                return -1;
            }
            U.putLong(place, state + 1);
            return n << 16 | state & DEEPEST;
        }
        for (long i = 0; i < SPREAD; i++) {
            n = thread + i & places - 1;
            long place = table + HEAD + (n + 1) * size;
            long state = U.getLong(place);
            if ((state & DEEPEST) == 0 && U.compareAndSetLong(null, place, state, thread << 16 | 1)) {
                return n << 16;
            }
        }
        return -1;
    }

    private static long thread() {
        return U.getLong(Thread.currentThread(), TID);
    }

    /** Where the value at a depth of a place lies. */
    private static long value(long table, long n, long depth) {
        return table + HEAD + (n + 1) * U.getLong(table + 8) + VALUES + 8 * depth;
    }

    public static void push(long table, long value) {
        long claim = claim(table, thread());
        long depth = claim & DEEPEST;
        if (claim >= 0 && depth < DEPTH) {
            U.putLong(value(table, claim >>> 16, depth), value);
        }
    }

    public static void keep(long table, Object value) {
        long claim = claim(table, thread());
        long depth = claim & DEEPEST;
        if (claim >= 0 && depth < DEPTH) {
            kept[(int) U.getLong(table + VeneerLayout.TABLE_PARTS)][(int) ((claim >>> 16) * DEPTH + depth)] = value;
        }
    }

    /** What the thread has put there last; 0 where there is nothing. With {@code off} it is taken off. */
    private static long number(long table, boolean off) {
        long n = own(table, thread());
        if (n < 0) {
            return 0;
        }
        long place = table + HEAD + (n + 1) * U.getLong(table + 8);
        long state = U.getLong(place);
        long depth = (state & DEEPEST) - 1;
        long value = depth < DEPTH ? U.getLong(value(table, n, depth)) : 0;
        if (off) {
            U.putLongRelease(null, place, state - 1);
        }
        return value;
    }

    private static Object object(long table, boolean off) {
        long n = own(table, thread());
        if (n < 0) {
            return null;
        }
        long place = table + HEAD + (n + 1) * U.getLong(table + 8);
        long state = U.getLong(place);
        long depth = (state & DEEPEST) - 1;
        Object value = null;
        if (depth < DEPTH) {
            Object[] all = kept[(int) U.getLong(table + VeneerLayout.TABLE_PARTS)];
            int at = (int) (n * DEPTH + depth);
            value = all[at];
            if (off) {
                all[at] = null;
            }
        }
        if (off) {
            U.putLongRelease(null, place, state - 1);
        }
        return value;
    }

    public static long pop(long table) {
        return number(table, true);
    }

    public static long top(long table) {
        return number(table, false);
    }

    public static Object take(long table) {
        return object(table, true);
    }

    public static Object peek(long table) {
        return object(table, false);
    }
}
