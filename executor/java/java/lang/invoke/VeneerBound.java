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
    /** The JDK's class of handles with one bound object. Null if this JDK has none of this form. */
    private static final Class<?> KIND = kind();
    private static final MethodType TYPE = MethodType.methodType(Object.class);
    /** Code for a handle of that type. Nothing calls the handles of Veneer. */
    private static final LambdaForm FORM = KIND == null ? null : MethodHandles.zero(Object.class).form;
    private static final long TYPE_AT = U.objectFieldOffset(MethodHandle.class, "type");
    private static final long FORM_AT = U.objectFieldOffset(MethodHandle.class, "form");
    private static final long VALUE_AT = KIND == null ? 0 : U.objectFieldOffset(KIND, "argL0");
    private static final long VALUE = find();

    private static Class<?> kind() {
        try {
            Class<?> kind = Class.forName("java.lang.invoke.BoundMethodHandle$Species_L", true, null);
            U.objectFieldOffset(kind, "argL0");
            return kind;
        } catch (ClassNotFoundException | InternalError e) {
            return null;
        }
    }

    /**
     * A method handle that is bound to this value. The agent makes one when it starts, and the JDK's
     * own function would then generate a class for the code of the handle, which loads a hundred
     * classes. So the fields of the handle are filled in here.
     */
    static MethodHandle make(Object value) {
        if (KIND == null) {
            // `MethodHandles.constant` makes another kind of handle for null.
            return MethodHandles.insertArguments(MethodHandles.identity(Object.class), 0, value);
        }
        MethodHandle handle;
        try {
            handle = (MethodHandle) U.allocateInstance(KIND);
        } catch (InstantiationException e) {
            throw new InternalError(e);
        }
        U.putReference(handle, TYPE_AT, TYPE);
        U.putReference(handle, FORM_AT, FORM);
        U.putReference(handle, VALUE_AT, value);
        U.storeFence();
        return handle;
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
