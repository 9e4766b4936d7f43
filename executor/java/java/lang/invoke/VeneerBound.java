package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Reads the value that a constant method handle is bound to.
 *
 * <p>A call reads {@code value(handle(constant))}. If the JDK keeps the value in the field that Veneer knows, the agent replaces both
 * calls by instructions that read the field ({@code library/bound.rs}). The Java language has no such expression, because the field's
 * class is private. Both compilers of HotSpot take a field that is read by an instruction for a constant; C1 does not take a read
 * through {@code Unsafe} for one.
 */
final class VeneerBound {
    private VeneerBound() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long VALUE = find();

    /** The handle itself. */
    @ForceInline
    static MethodHandle handle(MethodHandle constant) {
        return constant;
    }

    @ForceInline
    static Object value(MethodHandle constant) {
        return U.getReference(constant, VALUE);
    }

    private static long find() {
        Object value = new Object();
        MethodHandle constant = MethodHandles.constant(Object.class, value);
        long offset = U.objectFieldOffset(constant.getClass(), "argL0");
        if (U.getReference(constant, offset) != value) {
            throw new InternalError("this JDK keeps the value of a constant method handle elsewhere");
        }
        return offset;
    }
}
