package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Stable;

/**
 * Writes events into the ring of the current carrier thread. The agent drains the rings ({@code
 * executor/src/data/rings.rs}).
 *
 * <p>Versions call the public methods by the name of the subclass {@link VeneerRuntime}.
 */
class VeneerEvents {
    VeneerEvents() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    //   ring    head(8) tail(8) –(8) capacity(8) …, and from HEADER on the data
    //   event   length(4) point(4) time(8) tid(8) –(8), then the values
    //   value   kind(8), then word(8), or length(8) and the characters, padded to 8
    //
    // All lengths are multiples of 8. Head and tail only grow. A length of 0 means that the writer
    // continued at the beginning of the data.
    private static final int HEADER = VeneerLayout.RING_HEADER;
    private static final int TEXT = VeneerLayout.EVENT_TEXT;

    // The JVM finds these methods by name in the agent's library.
    private static native long ring(long tid);

    private static native void dropped(int point);

    /**
     * {@code Thread.currentCarrierThread()}, or null on a JDK without virtual threads. A ring
     * belongs to a carrier thread. Nothing blocks between the beginning and the end of an event, so
     * a virtual thread stays on its carrier. Set before the first version is defined.
     */
    @Stable private static MethodHandle carrier;

    static void findCarrier() {
        try {
            carrier = MethodHandles.Lookup.IMPL_LOOKUP.findStatic(
                    Thread.class, "currentCarrierThread", MethodType.methodType(Thread.class));
        } catch (ReflectiveOperationException e) {
            carrier = null;
        }
    }

    /**
     * Address of the current carrier's ring. If it has none, asks the agent for one if {@code
     * make}; else 0.
     */
    private static long ring(boolean make) throws Throwable {
        MethodHandle find = VeneerEvents.carrier;
        Thread carrier = find != null ? (Thread) find.invokeExact() : Thread.currentThread();
        long tid = U.getLong(carrier, TID);
        long row = VeneerRuntime.table + (tid & VeneerRuntime.MASK) * VeneerLayout.THREAD_ROW_BYTES;
        long ring = U.getLong(row) == tid ? U.getLong(row + VeneerLayout.THREAD_ROW_RING) : 0;
        return ring != 0 || !make ? ring : ring(tid);
    }

    /**
     * Begins an event, and returns the address for its values. If there is no room, counts a drop
     * and returns 0.
     */
    public static long begin(int point, int values) throws Throwable {
        long ring = ring(true);
        if (ring <= 0) {
            dropped(point);
            return 0;
        }
        long head = U.getLong(ring + VeneerLayout.RING_HEAD);
        long size = U.getLong(ring + VeneerLayout.RING_CAPACITY);
        long need = VeneerLayout.EVENT_HEADER + values * (VeneerLayout.EVENT_VALUE + 2L * TEXT);
        long at = head % size;
        long skip = at + need > size ? size - at : 0;
        if (head + skip + need - U.getLongVolatile(null, ring + VeneerLayout.RING_TAIL) > size) {
            dropped(point);
            return 0;
        }
        if (skip != 0) {
            U.putInt(ring + HEADER + at, 0);
            head += skip;
            U.putLongRelease(null, ring + VeneerLayout.RING_HEAD, head);
            at = 0;
        }
        long event = ring + HEADER + at;
        U.putInt(event + VeneerLayout.EVENT_POINT, point);
        U.putLong(event + VeneerLayout.EVENT_TIME, System.nanoTime());
        U.putLong(event + VeneerLayout.EVENT_THREAD, U.getLong(Thread.currentThread(), TID));
        return event + VeneerLayout.EVENT_HEADER;
    }

    public static long put(long at, int value) {
        return put(at, VeneerLayout.VALUE_INT, value);
    }

    public static long put(long at, long value) {
        return put(at, VeneerLayout.VALUE_INT, value);
    }

    public static long put(long at, float value) {
        return put(at, VeneerLayout.VALUE_FLOAT, Double.doubleToRawLongBits(value));
    }

    public static long put(long at, double value) {
        return put(at, VeneerLayout.VALUE_FLOAT, Double.doubleToRawLongBits(value));
    }

    /** Puts a value without characters: its kind, a constant of {@link VeneerLayout}, and its word. */
    private static long put(long at, long kind, long word) {
        if (at == 0) {
            return 0;
        }
        U.putLong(at, kind);
        U.putLong(at + 8, word);
        return at + VeneerLayout.EVENT_VALUE;
    }

    /**
     * Puts a string by its first characters, and any other object by its class and identity hash.
     * Calls no code of the application.
     */
    public static long put(long at, Object value) {
        if (at == 0) {
            return 0;
        }
        if (value == null) {
            return put(at, VeneerLayout.VALUE_NULL, 0);
        }
        String text = value instanceof String s ? s : value.getClass().getName();
        int n = Math.min(text.length(), TEXT);
        U.putLong(at, value instanceof String ? VeneerLayout.VALUE_STRING : VeneerLayout.VALUE_OBJECT);
        U.putLong(at + 8, value instanceof String ? n : n | (long) System.identityHashCode(value) << 32);
        for (int i = 0; i < n; i++) {
            U.putChar(at + VeneerLayout.EVENT_VALUE + 2L * i, text.charAt(i));
        }
        return at + VeneerLayout.EVENT_VALUE + (2L * n + 7) / 8 * 8;
    }

    /**
     * Publishes the event that begins at the ring's head and ends at {@code at}. Does nothing for
     * 0.
     */
    public static void end(long at) throws Throwable {
        long ring = at == 0 ? 0 : ring(false);
        if (ring <= 0) {
            return;
        }
        long head = U.getLong(ring + VeneerLayout.RING_HEAD);
        long start = ring + HEADER + head % U.getLong(ring + VeneerLayout.RING_CAPACITY);
        U.putInt(start, (int) (at - start));
        U.putLongRelease(null, ring + VeneerLayout.RING_HEAD, head + (at - start));
    }
}
