package java.lang.invoke;

import jdk.internal.misc.Unsafe;

/**
 * Stacks of values or objects that threads keep from one join point to another. A table has a stack
 * for each thread. Emitted code calls the public methods on application threads.
 */
public final class VeneerThreads {
    private VeneerThreads() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");
    private static final int HEAD = VeneerTables.HEAD;
    private static final int VALUES = VeneerTables.VALUES;

    // A place is a stack: a state and DEPTH values. The state has the thread's id, and in the lower
    // 16 bits the depth of the stack. Objects are in an array on the heap, whose index is in the
    // table's head. A thread's place is one of the SPREAD places from the one of its id on. A place
    // is free for any thread while its stack is empty. Otherwise only its own thread changes it.
    //
    // Values deeper than DEPTH are counted and not kept, so that pushes and pops stay balanced.
    private static final int DEPTH = VeneerLayout.DEPTH;
    private static final int SPREAD = 8;
    private static final long DEEPEST = 0xffff;
    private static volatile Object[][] kept = new Object[0][];

    /** Creates the array for the objects of a table. Called by the agent. */
    static synchronized void keep(long table, long places) {
        Object[][] more = java.util.Arrays.copyOf(kept, kept.length + 1);
        more[kept.length] = new Object[(int) places * DEPTH];
        U.putLong(table + VeneerLayout.TABLE_PARTS, kept.length);
        kept = more;
    }

    /** The index of the place with the thread's stack; -1 if its stack is empty. */
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

    /**
     * Increments the depth of the thread's stack, which gets a free place if it is empty. Returns
     * the index of the place, with the former depth in the lower 16 bits; -1 if there is no free
     * place, or the depth is at its limit.
     */
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

    /** The address of the value at a depth of a place. */
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

    /**
     * The top value of the thread's stack; 0 if the stack is empty. With {@code off}, removes the
     * value.
     */
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

    /**
     * The top object of the thread's stack; null if the stack is empty. With {@code off}, removes
     * the object.
     */
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
