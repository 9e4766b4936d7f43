package java.lang.invoke;

import jdk.internal.misc.Unsafe;

/**
 * A member that a version uses through a method handle, with the host's own lookup. {@code type} is
 * erased; {@code descriptor} names the classes.
 */
final class VeneerMember {
    private static final Unsafe U = Unsafe.getUnsafe();

    private final Class<?> host;
    private final int kind;
    private final String owner;
    private final String name;
    private final MethodType type;
    private final String descriptor;
    /** The handle that a call has found. */
    private volatile MethodHandle found;

    VeneerMember(Class<?> host, int kind, String owner, String name, MethodType type, String descriptor) {
        this.host = host;
        this.kind = kind;
        this.owner = owner;
        this.name = name;
        this.type = type;
        this.descriptor = descriptor;
    }

    /**
     * The handle for the member. If the member cannot be found now, the handle looks for it when it is
     * called, until a call finds it, in the thread of the application. That thread then loads the
     * member's class, or meets the error, at the place where the host's own instruction does.
     *
     * <p>The lookup links the member's class. A thread of the agent must not link a class of the
     * application, because the verifier loads other classes then. An initialised class is linked.
     */
    MethodHandle handle() throws Throwable {
        Class<?> declaring = VeneerClasses.loaded(host, owner);
        if (declaring != null && !U.shouldBeInitialized(declaring)) {
            try {
                return VeneerLinker.handle(host, name, type, kind, declaring, descriptor);
            } catch (ReflectiveOperationException | LinkageError e) {
                // See above.
            }
        }
        MethodHandle found =
                MethodHandles.Lookup.IMPL_LOOKUP.findVirtual(VeneerMember.class, "found", MethodType.methodType(MethodHandle.class));
        return MethodHandles.foldArguments(MethodHandles.exactInvoker(type), found.bindTo(this));
    }

    private MethodHandle found() throws Throwable {
        MethodHandle known = found;
        if (known == null) {
            Class<?> declaring = Class.forName(owner, false, host.getClassLoader());
            known = VeneerLinker.handle(host, name, type, kind, declaring, descriptor);
            found = known;
        }
        return known;
    }
}
