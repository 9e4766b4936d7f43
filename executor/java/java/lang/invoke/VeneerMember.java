package java.lang.invoke;

/**
 * A member that a version uses through a method handle, with the host's own lookup. {@code type} is
 * erased; {@code descriptor} names the classes.
 */
final class VeneerMember {
    private final Class<?> host;
    private final int kind;
    private final String owner;
    private final String name;
    private final MethodType type;
    private final String descriptor;

    VeneerMember(Class<?> host, int kind, String owner, String name, MethodType type, String descriptor) {
        this.host = host;
        this.kind = kind;
        this.owner = owner;
        this.name = name;
        this.type = type;
        this.descriptor = descriptor;
    }

    /**
     * The handle for the member. If the member cannot be found now, the handle looks for it at each
     * call, in the thread of the application. That thread then loads the member's class, or meets
     * the error, at the place where the host's own instruction does.
     */
    MethodHandle handle() throws Throwable {
        Class<?> declaring = VeneerClasses.loaded(host, owner);
        if (declaring != null) {
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
        Class<?> declaring = Class.forName(owner, false, host.getClassLoader());
        return VeneerLinker.handle(host, name, type, kind, declaring, descriptor);
    }
}
