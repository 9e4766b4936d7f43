package java.lang.invoke;

import java.security.ProtectionDomain;
import jdk.internal.access.JavaLangAccess;
import jdk.internal.access.SharedSecrets;
import jdk.internal.misc.Unsafe;

/**
 * Defines versions and anchors, and installs versions in cells. The thread that runs plans and the
 * request thread call it.
 */
final class VeneerVersions {
    private VeneerVersions() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    /**
     * Flags of {@code JavaLangAccess.defineClass}: a hidden class, a nestmate of the host, and a
     * class whose JVM-internal annotations such as {@link LambdaForm.Compiled} apply.
     */
    private static final int VERSION = 1 | 2 | 8;

    /**
     * Defines a version as a nestmate of its host. {@code tokens}, {@code places} and the host
     * become its class data. {@code finals} names the final fields of the host to which the version
     * stores (see {@link VeneerLinker#fillOffsets}), and {@code bound} the members that it uses
     * through method handles ({@link VeneerLinker#fillHandles}). Except for the last flag, this
     * equals {@code Lookup.defineHiddenClassWithClassData}. The bodies of a version have the
     * annotation {@code LambdaForm.Compiled}, so caller-sensitive methods ({@code Class.forName},
     * {@code Method.invoke} …) skip its frames and see the host.
     */
    static Class<?> define(Class<?> host, String name, byte[] bytes, MethodHandle[] tokens, int[] places, String finals, String bound)
            throws Throwable {
        VeneerWalk.beginOnce();
        JavaLangAccess lang = SharedSecrets.getJavaLangAccess();
        Object data = new Object[] {tokens, places, host, MINE};
        Class<?> version =
                lang.defineClass(host.getClassLoader(), host, name, bytes, lang.protectionDomain(host), false, VERSION, data);
        // For each method in order, `places` has the id, the number of places, and the places.
        for (int i = 0, at = 0; i < tokens.length; i++, at += 2 + places[at + 1]) {
            fill(version, "t" + places[at], tokens[i]);
        }
        if (!finals.isEmpty()) {
            VeneerLinker.fillOffsets(host, version, finals);
        }
        if (!bound.isEmpty()) {
            VeneerLinker.fillHandles(host, version, bound);
        }
        U.ensureClassInitialized(version);
        VeneerHosts.add(host, version);
        return version;
    }

    /**
     * Defines an anchor in the loader of its host and with the host's protection domain. A class of
     * another domain would have to be admitted to the host's domain when the host refers to it, and
     * JDK 17 takes the lock of the loader for that.
     */
    static Class<?> defineAnchor(ClassLoader loader, String name, byte[] bytes, ProtectionDomain domain) {
        return SharedSecrets.getJavaLangAccess().defineClass(loader, name, bytes, domain, null);
    }

    /** Sets the fields of an anchor to the cells of its methods, and initialises the anchor. */
    static void anchor(Class<?> anchor, int[] ids) {
        for (int id : ids) {
            fill(anchor, "c" + id, VeneerCells.cell(id));
        }
        U.ensureClassInitialized(anchor);
    }

    /**
     * Sets a {@code static final} field of a class before its initialisation. An initialiser of the
     * class itself would look up the field's class through the class loader, which may be code of
     * the application.
     */
    private static void fill(Class<?> of, String field, Object value) {
        U.putReference(of, U.objectFieldOffset(of, field), value);
    }

    /** Marks the class data of versions. No other class has this object. */
    private static final Object MINE = new Object();

    /** The class data of a version: tokens, places, host, mark. Null for any other class. */
    static Object[] data(Class<?> version) {
        return SharedSecrets.getJavaLangAccess().classData(version) instanceof Object[] data && data.length == 4 && data[3] == MINE
                ? data
                : null;
    }

    /**
     * Makes a version the current one: new activations enter it, and running activations move to
     * it. If {@code version} is null, new activations run the armed body with the counters of the
     * token.
     */
    static void install(int id, Class<?> version, MethodHandle token) throws InstantiationException {
        VeneerCell cell = VeneerCells.cell(id);
        if (version == null) {
            cell.turn(token);
            return;
        }
        // Armed bodies call the version's methods on this instance, which has no state. Its class
        // has no constructor.
        VeneerToken.of(token).body = U.allocateInstance(version);
        cell.turn(token);
    }

    /**
     * Sets the OSR entry of a version for running activations. With IDLE, that of the clean
     * version.
     */
    static void installResume(int id, Class<?> version, MethodHandle token, String body) throws Throwable {
        VeneerCell cell = VeneerCells.cell(id);
        // With a type that is not erased, the lookup would ask the version's class loader for the
        // classes.
        MethodType erased = MethodType.methodType(Object.class, Object.class);
        cell.accept(MethodHandles.Lookup.IMPL_LOOKUP.findStatic(version, body, erased), token);
    }
}
