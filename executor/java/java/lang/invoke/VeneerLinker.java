package java.lang.invoke;

import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jdk.internal.misc.Unsafe;
import sun.invoke.util.Wrapper;

/**
 * Links the call sites of versions: the code behind the bootstrap methods {@link
 * VeneerRuntime#bind} and {@link VeneerRuntime#relink}. Application threads call it when they link
 * a call site of a version.
 *
 * <p>A version is a nestmate of its host, but not its subclass, and not the host itself. So it
 * cannot call {@code super} methods, use protected members of other packages, store to final
 * fields, or get the host's lookup. Handles that are made with the host's own lookup can.
 *
 * <p>{@link VeneerAgent} initialises this class before the first version exists. An application thread with
 * a full stack might fail to initialise it, and then no thread could ever use it.
 */
final class VeneerLinker {
    private VeneerLinker() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    /**
     * Binds a call site of a version with the host's own lookup. {@code kind} is {@link
     * VeneerLayout#BIND_LOOKUP} or {@link VeneerLayout#BIND_PUT_STATIC_FINAL}. {@code type} is
     * erased; {@code descriptor} names the classes.
     */
    static CallSite bind(
            MethodHandles.Lookup caller, String name, MethodType type, int kind, Class<?> owner, Class<?> host, String descriptor)
            throws Throwable {
        check(caller, host);
        if (kind == VeneerLayout.BIND_LOOKUP) {
            return new ConstantCallSite(MethodHandles.constant(MethodHandles.Lookup.class, hostLookup(host)).asType(type));
        }
        return new ConstantCallSite(handle(host, name, type, kind, owner, descriptor));
    }

    /**
     * Fills in the method handles of a version for members that a nestmate may not use by itself.
     * {@code bound} has five parts for each handle, all separated by dots: the operation, which is a
     * {@code BIND} constant of {@link VeneerLayout}; the index of the member in the host's constant
     * pool; the internal name of the class that the host names; the member's name; and the descriptor
     * of a method with the same operands. The JVM allows none of these to contain a dot.
     *
     * <p>A thread of the agent calls this method, so no class is looked up that the host's loader has
     * not loaded.
     */
    static void fillHandles(Class<?> host, Class<?> version, String bound) throws Throwable {
        String[] parts = bound.split("\\.");
        for (int i = 0; i + 4 < parts.length; i += 5) {
            int kind = Integer.parseInt(parts[i]);
            String descriptor = parts[i + 4];
            MethodType type = erased(descriptor);
            VeneerMember member = new VeneerMember(host, kind, parts[i + 2].replace('/', '.'), parts[i + 3], type, descriptor);
            U.putReference(version, U.objectFieldOffset(version, "b" + kind + "_" + parts[i + 1]), member.handle());
            // The JVM asks for this form when it links the first call of such a handle.
            Invokers.methodHandleInvokeLinkerMethod("invokeExact", type, new Object[1]);
        }
    }

    /** The method type of a descriptor, with {@code Object} in place of all classes. */
    private static MethodType erased(String descriptor) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < descriptor.length(); i++) {
            char c = descriptor.charAt(i);
            if (c == '[' || c == 'L') {
                while (descriptor.charAt(i) == '[') {
                    i++;
                }
                if (descriptor.charAt(i) == 'L') {
                    i = descriptor.indexOf(';', i);
                }
                text.append("Ljava/lang/Object;");
            } else {
                text.append(c);
            }
        }
        return MethodType.fromDescriptor(text.toString(), null);
    }

    /** A handle of an erased type for a member whose descriptor names the classes. */
    static MethodHandle handle(Class<?> host, String name, MethodType type, int kind, Class<?> owner, String descriptor)
            throws Throwable {
        MethodType typed = known(host, descriptor);
        MethodHandle handle = typed != null ? typed(host, name, typed, kind, owner) : untyped(host, name, type, kind, owner, descriptor);
        // This cast passes any object to a parameter of an interface type, as the verifier does.
        return MethodHandles.explicitCastArguments(handle, type);
    }

    /** A handle for a member whose classes are all loaded. */
    private static MethodHandle typed(Class<?> host, String name, MethodType type, int kind, Class<?> owner) throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.Lookup.IMPL_LOOKUP.in(host);
        switch (kind) {
            case VeneerLayout.BIND_SPECIAL:
                return lookup.findSpecial(owner, name, type.dropParameterTypes(0, 1), host);
            case VeneerLayout.BIND_VIRTUAL:
                return direct(lookup.findVirtual(owner, name, type.dropParameterTypes(0, 1)));
            case VeneerLayout.BIND_STATIC:
                return direct(lookup.findStatic(owner, name, type));
            case VeneerLayout.BIND_GET_FIELD:
                return lookup.findGetter(owner, name, type.returnType());
            case VeneerLayout.BIND_PUT_FIELD:
                return lookup.findSetter(owner, name, type.parameterType(1));
            case VeneerLayout.BIND_GET_STATIC:
                return lookup.findStaticGetter(owner, name, type.returnType());
            case VeneerLayout.BIND_PUT_STATIC:
                return lookup.findStaticSetter(owner, name, type.parameterType(0));
            default:
                // BIND_PUT_STATIC_FINAL
                Class<?> stored = type.parameterType(0);
                return finalSetter(stored, lookup.findStaticGetter(owner, name, stored).internalMemberName());
        }
    }

    /**
     * The type that a descriptor means in a class; null if the class's loader has not loaded one of
     * its classes.
     */
    private static MethodType known(Class<?> host, String descriptor) throws Throwable {
        ArrayList<Class<?>> types = new ArrayList<>();
        for (int i = 1; i < descriptor.length(); i++) {
            if (descriptor.charAt(i) == ')') {
                continue;
            }
            int base = i;
            while (descriptor.charAt(base) == '[') {
                base++;
            }
            int end = descriptor.charAt(base) == 'L' ? descriptor.indexOf(';', base) : base;
            Class<?> type =
                    end > base
                            ? VeneerClasses.loaded(host, descriptor.substring(base + 1, end).replace('/', '.'))
                            : Wrapper.forBasicType(descriptor.charAt(base)).primitiveType();
            if (type == null) {
                return null;
            }
            for (; i < base; i++) {
                type = type.arrayType();
            }
            types.add(type);
            i = end;
        }
        Class<?> result = types.remove(types.size() - 1);
        return MethodType.methodType(result, types);
    }

    private static final long MEMBER_TYPE = U.objectFieldOffset(MemberName.class, "type");
    private static final long MEMBER_RESOLUTION = U.objectFieldOffset(MemberName.class, "resolution");

    /**
     * A handle of an erased type, for a member whose descriptor names classes that the host's
     * loader has not loaded.
     */
    private static MethodHandle untyped(Class<?> host, String name, MethodType type, int kind, Class<?> owner, String descriptor)
            throws Throwable {
        int close = descriptor.lastIndexOf(')');
        byte reference;
        Object wanted;
        String text;
        switch (kind) {
            case VeneerLayout.BIND_SPECIAL:
            case VeneerLayout.BIND_VIRTUAL:
                reference =
                        kind == VeneerLayout.BIND_SPECIAL
                                ? MethodHandleNatives.Constants.REF_invokeSpecial
                                : MethodHandleNatives.Constants.REF_invokeVirtual;
                wanted = type.dropParameterTypes(0, 1);
                int receiver = descriptor.charAt(1) == 'L' ? descriptor.indexOf(';') + 1 : 2;
                text = "(" + descriptor.substring(receiver);
                break;
            case VeneerLayout.BIND_STATIC:
                reference = MethodHandleNatives.Constants.REF_invokeStatic;
                wanted = type;
                text = descriptor;
                break;
            case VeneerLayout.BIND_GET_FIELD:
            case VeneerLayout.BIND_GET_STATIC:
                reference =
                        kind == VeneerLayout.BIND_GET_FIELD
                                ? MethodHandleNatives.Constants.REF_getField
                                : MethodHandleNatives.Constants.REF_getStatic;
                wanted = Object.class;
                text = descriptor.substring(close + 1);
                break;
            default:
                reference =
                        kind == VeneerLayout.BIND_PUT_FIELD
                                ? MethodHandleNatives.Constants.REF_putField
                                : kind == VeneerLayout.BIND_PUT_STATIC
                                        ? MethodHandleNatives.Constants.REF_putStatic
                                        : MethodHandleNatives.Constants.REF_getStatic;
                wanted = Object.class;
                int value = kind == VeneerLayout.BIND_PUT_FIELD ? descriptor.indexOf(';') + 1 : 1;
                text = descriptor.substring(value, close);
                break;
        }
        MemberName member =
                wanted instanceof MethodType method
                        ? new MemberName(owner, name, method, reference)
                        : new MemberName(owner, name, (Class<?>) wanted, reference);
        member = resolved(member, host, text);
        U.putReference(member, MEMBER_TYPE, wanted);
        U.putReference(member, MEMBER_RESOLUTION, null);
        if (kind == VeneerLayout.BIND_PUT_STATIC_FINAL) {
            return finalSetter(Object.class, member);
        }
        return DirectMethodHandle.make(reference, owner, member, host);
    }

    /** Resolves a member with this descriptor. */
    private static MemberName resolved(MemberName member, Class<?> host, String descriptor) throws ClassNotFoundException {
        // If the descriptor is a string, the JVM resolves the member without looking up the
        // classes.
        U.putReference(member, MEMBER_TYPE, descriptor);
        MemberName found = MethodHandleNatives.resolve(member, host, -1, false);
        if (found == null) {
            throw new LinkageError("cannot resolve " + member.getDeclaringClass().getName() + "." + member.getName() + descriptor);
        }
        return found;
    }

    /**
     * Fills in the offsets of the final fields to which a version stores. {@code finals} has three
     * parts for each field, all separated by dots: the index of the field in the host's class file,
     * its name, and its descriptor. The JVM allows none of these to contain a dot.
     */
    static void fillOffsets(Class<?> host, Class<?> version, String finals) throws ClassNotFoundException {
        String[] parts = finals.split("\\.");
        for (int i = 0; i + 2 < parts.length; i += 3) {
            U.putLong(version, U.objectFieldOffset(version, "f" + parts[i]), offset(host, parts[i + 1], parts[i + 2]));
        }
    }

    /**
     * The offset of an instance field that a class declares. A class may have several fields of one
     * name, which {@code Unsafe.objectFieldOffset} does not tell apart.
     */
    static long offset(Class<?> declaring, String name, String descriptor) throws ClassNotFoundException {
        MemberName field = new MemberName(declaring, name, Object.class, MethodHandleNatives.Constants.REF_getField);
        return MethodHandleNatives.objectFieldOffset(resolved(field, declaring, descriptor));
    }

    /**
     * Replaces a handle for a caller-sensitive method. The target of the result sees the host as
     * its caller, because the JVM skips the frames of versions. The target of the original handle
     * would see a class that the JDK injects in place of the caller.
     */
    private static MethodHandle direct(MethodHandle handle) throws ReflectiveOperationException {
        MemberName member = handle.internalMemberName();
        if (member == null || !MethodHandleNatives.isCallerSensitive(member)) {
            return handle;
        }
        MethodHandles.Lookup all = MethodHandles.Lookup.IMPL_LOOKUP;
        return member.isStatic()
                ? all.findStatic(member.getDeclaringClass(), member.getName(), member.getMethodType())
                : all.findVirtual(member.getDeclaringClass(), member.getName(), member.getMethodType());
    }

    /** The lookup that {@code MethodHandles.lookup()} returns in the host. */
    private static MethodHandles.Lookup hostLookup(Class<?> host) throws IllegalAccessException {
        return MethodHandles.privateLookupIn(host, MethodHandles.Lookup.IMPL_LOOKUP);
    }

    /**
     * Fails if the caller is not a version of the host: only versions may use the host's lookup.
     */
    private static void check(MethodHandles.Lookup caller, Class<?> host) throws IllegalAccessException {
        Class<?> version = caller.lookupClass();
        Object[] data = VeneerVersions.data(version);
        if (data == null || data[2] != host) {
            throw new IllegalAccessException("not a version of " + host.getName());
        }
    }

    /** A handle that stores to the static final field {@code member}. */
    private static MethodHandle finalSetter(Class<?> type, MemberName member) throws Throwable {
        String suffix = type.isPrimitive() ? Character.toUpperCase(type.getName().charAt(0)) + type.getName().substring(1) : "Reference";
        Class<?> stored = type.isPrimitive() ? type : Object.class;
        MethodHandle put =
                MethodHandles.Lookup.IMPL_LOOKUP.findVirtual(
                        Unsafe.class, "put" + suffix, MethodType.methodType(void.class, Object.class, long.class, stored));
        return MethodHandles.insertArguments(
                put.bindTo(U), 0, MethodHandleNatives.staticFieldBase(member), MethodHandleNatives.staticFieldOffset(member));
    }

    /** The call sites of each host, by their numbers. */
    private static final ClassValue<Map<Integer, CallSite>> LINKED =
            new ClassValue<>() {
                @Override
                protected Map<Integer, CallSite> computeValue(Class<?> host) {
                    return new ConcurrentHashMap<>();
                }
            };

    /**
     * Runs a bootstrap method of the host as the host would. All versions of a host share the call
     * site. {@code site} has the number of the call site, and then the indexes of the arguments
     * that are handles of kind {@code invokeSpecial} in the host.
     */
    static CallSite relink(
            MethodHandles.Lookup caller, String name, MethodType type, Class<?> host, String site, MethodHandle method, Object... arguments)
            throws Throwable {
        check(caller, host);
        String[] numbers = site.split(" ");
        Integer number = Integer.valueOf(numbers[0]);
        Map<Integer, CallSite> linked = LINKED.get(host);
        CallSite known = linked.get(number);
        if (known != null) {
            return known;
        }
        Object[] all = new Object[3 + arguments.length];
        all[0] = hostLookup(host);
        all[1] = name;
        all[2] = type;
        for (int i = 0, next = 1; i < arguments.length; i++) {
            boolean special = next < numbers.length && Integer.parseInt(numbers[next]) == i;
            next += special ? 1 : 0;
            all[3 + i] = arguments[i] instanceof MethodHandle handle ? ofHost(handle, host, special) : arguments[i];
        }
        CallSite made = (CallSite) method.invokeWithArguments(all);
        CallSite first = linked.putIfAbsent(number, made);
        return first != null ? first : made;
    }

    /**
     * Replaces a handle that depends on the class that names it by one that the host names. These
     * are handles for caller-sensitive methods, and handles of kind {@code invokeSpecial}, which a
     * version cannot name.
     */
    private static MethodHandle ofHost(MethodHandle handle, Class<?> host, boolean special) throws ReflectiveOperationException {
        MemberName member = handle.internalMemberName();
        if (member == null || !special && !MethodHandleNatives.isCallerSensitive(member)) {
            return handle;
        }
        byte kind = special ? MethodHandleNatives.Constants.REF_invokeSpecial : member.getReferenceKind();
        if (!special && kind == MethodHandleNatives.Constants.REF_invokeSpecial) {
            // The JDK represents a virtual call of a method that cannot be overridden by a special
            // one.
            kind = member.getDeclaringClass().isInterface()
                    ? MethodHandleNatives.Constants.REF_invokeInterface
                    : MethodHandleNatives.Constants.REF_invokeVirtual;
        }
        return MethodHandleNatives.linkMethodHandleConstant(
                host, kind, member.getDeclaringClass(), member.getName(), member.getMethodType());
    }
}
