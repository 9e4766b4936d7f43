package java.lang.invoke;

import jdk.internal.vm.annotation.Hidden;

/** Whether the heap has room for objects that Veneer makes the JVM allocate. */
final class VeneerHeap {
    private VeneerHeap() {}

    /** Bytes that linking a call site may allocate. A frame needs far less. */
    private static final int LINKING = 1 << 18;
    /**
     * If less than the heap divided by this number is free, a trial allocation decides whether
     * there is room.
     */
    private static final int ENOUGH_PART = 2;
    /**
     * After a successful trial allocation, no thread makes another one for this many nanoseconds.
     */
    private static final long STAYS_FREE = 10_000_000L;
    /**
     * After a failed one, no thread makes another one for this many nanoseconds: each failure is a
     * collection.
     */
    private static final long STAYS_FULL = 100_000_000L;

    /** Bytes that no program keeps within the time in which the agent links the clock. */
    private static final long MUCH = 64L << 20;
    /** The same as a part of a larger heap. */
    private static final int MUCH_PART = 4;

    private static volatile long freeUntil;
    private static volatile long fullUntil;
    private static volatile Object tried;

    /**
     * Whether the heap has room for an activation to leave an armed body or a version. If it has
     * not, the activation stays in its code, as if nothing were attached. So Veneer causes no
     * {@code OutOfMemoryError} that the application would not have met.
     */
    @Hidden
    static boolean hasRoom() {
        Runtime runtime = Runtime.getRuntime();
        long most = runtime.maxMemory();
        // Free memory may be unusable: a G1 region that a large array fills partly has no room for
        // another one.
        if (most - runtime.totalMemory() + runtime.freeMemory() > most / ENOUGH_PART) {
            return true;
        }
        long now = System.nanoTime();
        long free = freeUntil;
        if (free != 0 && now - free < 0) {
            return true;
        }
        long full = fullUntil;
        if (full != 0 && now - full < 0) {
            return false;
        }
        try {
            tried = new byte[LINKING];
            tried = null;
            freeUntil = now + STAYS_FREE | 1;
            return true;
        } catch (OutOfMemoryError e) {
            freeUntil = 0;
            fullUntil = System.nanoTime() + STAYS_FULL | 1;
            return false;
        }
    }

    /**
     * Cells change only if this many bytes are free, or, in a small heap, the heap divided by
     * {@link #PART}.
     */
    private static final long FREE = 1 << 23;
    private static final int PART = 8;

    /**
     * Whether the heap has so much room that the application does not fill it while the agent
     * initialises classes of the JDK for some tenths of a second: 1 or 0. A class whose
     * initialisation meets an {@code OutOfMemoryError} is lost to the application, too.
     */
    static long roomToLink() {
        Runtime runtime = Runtime.getRuntime();
        long most = runtime.maxMemory();
        long free = most - runtime.totalMemory() + runtime.freeMemory();
        return free > Math.max(MUCH, most / MUCH_PART) ? 1 : 0;
    }

    /**
     * Whether the heap has room for a change of cells: 1 or 0. A change deoptimises compiled code,
     * and the JVM allocates the objects that the code kept in registers. If it cannot allocate one
     * of them, it drops the frame without looking at its handlers (JDK-8270010). If {@code
     * allocate} is not 0, a trial allocation makes the JVM collect garbage.
     */
    static long roomToChange(long allocate) {
        Runtime runtime = Runtime.getRuntime();
        long most = runtime.maxMemory();
        long wanted = Math.min(FREE, most / PART);
        if (most - runtime.totalMemory() + runtime.freeMemory() > wanted) {
            return 1;
        }
        if (allocate == 0) {
            return 0;
        }
        try {
            tried = new byte[(int) wanted];
            tried = null;
            return 1;
        } catch (OutOfMemoryError e) {
            return 0;
        }
    }
}
