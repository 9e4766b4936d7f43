package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * What a cell's target stands for: the armed body or one version of the method.
 *
 * <p>A call site's target must be a method handle, so a token is the value of a constant handle. The handle's bound value is a
 * final field of a class in {@code java.lang.invoke}: the JIT reads it as a constant when the handle is one.
 */
final class VeneerToken {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** Where a constant handle keeps its value. */
    private static final long BOUND = bound();

    /** The instance of the version class; null for the armed body. Set once, before any cell has the token. */
    @Stable Object body;

    private VeneerToken() {}

    /** A new token, as a target of a cell. */
    static MethodHandle make() {
        return MethodHandles.constant(Object.class, new VeneerToken());
    }

    /** The token that a target of a cell stands for. */
    @ForceInline
    static VeneerToken of(MethodHandle target) {
        return (VeneerToken) U.getReference(target, BOUND);
    }

    private static long bound() {
        Object value = new Object();
        MethodHandle constant = MethodHandles.constant(Object.class, value);
        long offset = U.objectFieldOffset(constant.getClass(), "argL0");
        if (U.getReference(constant, offset) != value) {
            throw new InternalError("this JDK keeps the value of a constant method handle elsewhere");
        }
        return offset;
    }
}
