package java.lang.invoke;

import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The clock of timers: {@code System.nanoTime()} at first, and the processor's own counter after
 * the agent has linked it. Reading the counter takes half as long.
 *
 * <p>A time of the counter is negative, and a time of {@code nanoTime} is not. So the clock may
 * change while timers run.
 */
final class VeneerClock {
    private VeneerClock() {}

    /**
     * The target of the call site while times are those of {@code System.nanoTime()}. Timers do not
     * call it.
     */
    private static final MethodHandle NANOS = nanos();
    /**
     * The target has the type {@code ()long}. The JIT treats it as a constant, and deoptimises code
     * when it changes.
     */
    private static final MutableCallSite CLOCK = new MutableCallSite(NANOS);
    /**
     * The JVM makes a class for a method handle after this many calls of it, which may fail on a
     * full heap.
     */
    private static final int CALLS_UNTIL_CUSTOMIZED = 256;
    /** Nanoseconds per tick, times 2⁶². */
    @Stable private static long scale;
    /** One moment by both clocks: {@link #ticksThen} and {@link #nanosThen}. */
    @Stable private static long ticksThen;
    @Stable private static long nanosThen;

    /**
     * The handle of {@link #zero}. A constant handle of type {@code long} would need a class that the
     * JDK generates, which takes a millisecond and loads a hundred classes.
     */
    private static MethodHandle nanos() {
        try {
            return MethodHandles.Lookup.IMPL_LOOKUP.findStatic(VeneerClock.class, "zero", MethodType.methodType(long.class));
        } catch (ReflectiveOperationException e) {
            throw new InternalError(e);
        }
    }

    private static long zero() {
        return 0L;
    }

    @ForceInline
    private static long byNanoTime() {
        return System.nanoTime() & Long.MAX_VALUE;
    }

    @ForceInline
    private static long byCounter(long ticks) {
        return ticks | Long.MIN_VALUE;
    }

    /** Switches the clock to the counter that {@code ticks}, of type {@code ()long}, reads. */
    static void change(MethodHandle ticks, long ticksThen, long nanosThen, long scale) throws Throwable {
        VeneerClock.scale = scale;
        VeneerClock.ticksThen = byCounter(ticksThen);
        VeneerClock.nanosThen = nanosThen;
        MethodType type = MethodType.methodType(long.class, long.class);
        MethodHandle mark = MethodHandles.Lookup.IMPL_LOOKUP.findStatic(VeneerClock.class, "byCounter", type);
        MethodHandle counter = MethodHandles.filterReturnValue(ticks, mark);
        // The JVM loads classes at the first calls. An application thread might be loading one of
        // them.
        for (int i = 0; i < CALLS_UNTIL_CUSTOMIZED; i++) {
            by(counter);
        }
        CLOCK.setTarget(counter);
    }

    /** Links the call in {@link #by}. */
    static void link() throws Throwable {
        by(NANOS);
    }

    @ForceInline
    private static long by(MethodHandle clock) throws Throwable {
        return (long) clock.invokeExact();
    }

    @ForceInline
    static long now() throws Throwable {
        return CLOCK.target == NANOS ? byNanoTime() : by(CLOCK.target);
    }

    /** Whether the counter is linked. */
    static boolean isLinked() {
        return scale != 0;
    }

    /** The counter, which must be linked. */
    @ForceInline
    static long ticks() throws Throwable {
        return by(CLOCK.target) & Long.MAX_VALUE;
    }

    /** Nanoseconds between two times. */
    @ForceInline
    static long between(long start, long end) {
        if (end >= 0) {
            return end - start;
        }
        if (start < 0) {
            return nanos(end - start);
        }
        return nanosThen + nanos(end - ticksThen) - start;
    }

    @ForceInline
    private static long nanos(long ticks) {
        return Math.multiplyHigh(Math.max(ticks, 0) << 2, scale);
    }
}
