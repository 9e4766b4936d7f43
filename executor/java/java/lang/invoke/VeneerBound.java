package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Makes constant method handles, and reads the value that such a handle is bound to.
 *
 * <p>A call reads {@code value(handle(constant))}. If the JDK keeps the value in the field that
 * Veneer knows, the agent replaces both calls by instructions that read the field ({@code
 * java_runtime/direct_reads.rs}). The Java language has no such expression, because the field's
 * class is private. Both compilers of HotSpot treat a field that an instruction reads as a
 * constant. C1 does not treat a read through {@code Unsafe} as one.
 */
final class VeneerBound {
    private VeneerBound() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long VALUE = find();

    /**
     * A method handle that is bound to this value. {@code MethodHandles.constant} makes another kind
     * of handle for null.
     */
    static MethodHandle make(Object value) {
        return MethodHandles.insertArguments(MethodHandles.identity(Object.class), 0, value);
    }

    /** The handle itself. */
    @ForceInline
    static MethodHandle handle(MethodHandle constant) {
        return constant;
    }

    /** The bound value of a handle that {@link #handle} returned. */
    @ForceInline
    static Object value(MethodHandle constant) {
        return U.getReference(constant, VALUE);
    }

    private static long find() {
        Object value = new Object();
        MethodHandle constant = make(value);
        long offset = U.objectFieldOffset(constant.getClass(), "argL0");
        if (U.getReference(constant, offset) != value) {
            throw new InternalError("this JDK keeps the value of a constant method handle elsewhere");
        }
        return offset;
    }
}
