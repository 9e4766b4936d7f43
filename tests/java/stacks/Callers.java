import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.MissingResourceException;
import java.util.ResourceBundle;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;

/**
 * Methods of the JDK that query their caller, one family after the other. Their answers, their
 * refusals and the messages must be the same in moved code.
 */
@SuppressWarnings({"removal", "deprecation"})
public class Callers extends other.Base {
    private int own = 41;
    private volatile int updated;
    private volatile long updatedLong;
    private volatile String updatedText = "a";

    private Callers() {
        super(6);
    }

    private int hidden(int n) {
        return n * own;
    }

    /** Has private members and is not a nestmate. */
    interface Names {
        Object run() throws Throwable;
    }

    static String text(Throwable t) {
        Throwable cause = t instanceof InvocationTargetException ? t.getCause() : t;
        return cause.toString();
    }

    static void family(String name, Names code) {
        for (int i = 0; i < 3; i++) {
            String result;
            try {
                result = String.valueOf(code.run());
            } catch (Throwable t) {
                result = text(t);
            }
            // Numbers and addresses in the names of hidden classes vary.
            System.out.println(name + ": " + result.replaceAll("\\$\\$Lambda[$0-9]*/0x[0-9a-f]+", "\\$\\$Lambda").replaceAll("@[0-9a-f]+", "@"));
        }
    }

    // ---- classes and resources ------------------------------------------------------------------

    static Object forName() throws Exception {
        Class<?> own = Class.forName("Callers$Names");
        Class<?> base = Class.forName("other.Base", false, own.getClassLoader());
        Class<?> module = Class.forName(Object.class.getModule(), "java.lang.String");
        return own + " " + base + " " + module + " " + own.getClassLoader().getClass().getSimpleName();
    }

    static Object forNameFails() throws Exception {
        return Class.forName("no.Such");
    }

    static Object forNameReference() {
        Function<String, Class<?>> f = name -> {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                return null;
            }
        };
        return List.of("Callers", "other.Base", "none").stream().map(f).map(String::valueOf).collect(Collectors.joining(" "));
    }

    interface Finder {
        Class<?> find(String name) throws ClassNotFoundException;
    }

    /** A method reference to a method that queries its caller. */
    static Object methodReference() throws Exception {
        Finder f = Class::forName;
        return f.find("Callers$Finder");
    }

    interface Looker {
        MethodHandles.Lookup look();
    }

    static Object lookupReference() throws Exception {
        Looker l = MethodHandles::lookup;
        return l.look();
    }

    static Object resource() {
        URL own = Callers.class.getResource("Callers.class");
        URL none = Callers.class.getResource("none");
        URL object = Object.class.getResource("Object.class");
        return (own != null) + " " + none + " " + (object != null) + " " + (ClassLoader.getSystemResource("Callers.class") != null);
    }

    static Object loaders() {
        ClassLoader own = Callers.class.getClassLoader();
        return (own == Thread.currentThread().getContextClassLoader()) + " " + own.getParent().getClass().getSimpleName()
                + " " + (ClassLoader.getSystemClassLoader() == own);
    }

    static Object members() throws Exception {
        return Callers.class.getDeclaredFields().length + " " + Callers.class.getDeclaredConstructors().length + " "
                + Callers.class.getDeclaredClasses().length + " " + Callers.class.getMethods().length;
    }

    static Object bundle() {
        try {
            return ResourceBundle.getBundle("no.such.bundle", Locale.ROOT);
        } catch (MissingResourceException e) {
            return e.getMessage() + " " + e.getClassName();
        }
    }

    static Object ownBundle() {
        return ResourceBundle.getBundle("Callers$Words", Locale.ROOT).getString("one");
    }

    public static class Words extends java.util.ListResourceBundle {
        @Override
        protected Object[][] getContents() {
            return new Object[][] {{"one", "eins"}};
        }
    }

    static Object services() {
        List<String> names = new ArrayList<>();
        for (Names n : ServiceLoader.load(Names.class)) {
            names.add(n.toString());
        }
        return names;
    }

    // ---- reflection -----------------------------------------------------------------------------

    static Object privateMembers() throws Exception {
        Callers c = new Callers();
        Method m = Callers.class.getDeclaredMethod("hidden", int.class);
        Field f = Callers.class.getDeclaredField("own");
        Constructor<Callers> k = Callers.class.getDeclaredConstructor();
        f.setInt(c, 3);
        f.set(c, f.getInt(c) + 1);
        return m.invoke(c, 5) + " " + f.get(c) + " " + k.newInstance().own;
    }

    /** Inherited protected members: the class has access to them, but a nestmate would not. */
    static Object protectedMembers() throws Exception {
        Callers c = new Callers();
        Method secret = other.Base.class.getDeclaredMethod("secret");
        Method shared = other.Base.class.getDeclaredMethod("shared", int.class);
        Field guarded = other.Base.class.getDeclaredField("guarded");
        Field count = other.Base.class.getDeclaredField("count");
        guarded.setInt(c, guarded.getInt(c) + 1);
        return secret.invoke(c) + " " + shared.invoke(null, 4) + " " + guarded.get(c) + " " + count.getInt(null);
    }

    static Object protectedConstructor() throws Exception {
        return other.Base.class.getDeclaredConstructor().newInstance();
    }

    static Object foreignPrivate() throws Exception {
        Field value = String.class.getDeclaredField("value");
        return value.get("x");
    }

    static Object foreignAccessible() throws Exception {
        Field value = String.class.getDeclaredField("value");
        value.setAccessible(true);
        return value.get("x");
    }

    static Object tryAccessible() throws Exception {
        Method own = Callers.class.getDeclaredMethod("hidden", int.class);
        Method foreign = ArrayList.class.getDeclaredMethod("grow");
        return own.trySetAccessible() + " " + foreign.trySetAccessible() + " " + own.canAccess(new Callers());
    }

    static Object oldNewInstance() throws Exception {
        return Callers.class.newInstance().own;
    }

    static Object enclosing() throws Exception {
        Object local = new Object() {};
        return local.getClass().getEnclosingMethod() + " " + local.getClass().getEnclosingClass() + " "
                + Names.class.getDeclaringClass() + " " + Callers.class.getNestHost();
    }

    static Object reflectiveCaller() throws Exception {
        Method forName = Class.class.getMethod("forName", String.class);
        Method lookup = MethodHandles.class.getMethod("lookup");
        String made = lookup.invoke(null).toString().replaceAll("\\$\\$InjectedInvoker.*", "");
        return forName.invoke(null, "Callers$Words") + " " + made;
    }

    static Object proxy() throws Throwable {
        InvocationHandler handler = (p, m, a) -> m.getName() + " " + (a == null ? 0 : a.length);
        Names names = (Names) Proxy.newProxyInstance(Callers.class.getClassLoader(), new Class<?>[] {Names.class}, handler);
        return names.run() == null ? null : Proxy.getInvocationHandler(names) == handler;
    }

    static Object proxyRun() throws Throwable {
        Names names = (Names) Proxy.newProxyInstance(Callers.class.getClassLoader(), new Class<?>[] {Names.class}, (p, m, a) -> {
            return "called " + m.getName();
        });
        return names.run();
    }

    // ---- handles --------------------------------------------------------------------------------

    static Object lookup() throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle hidden = lookup.findVirtual(Callers.class, "hidden", MethodType.methodType(int.class, int.class));
        MethodHandle secret = lookup.findVirtual(Callers.class, "secret", MethodType.methodType(int.class));
        VarHandle own = lookup.findVarHandle(Callers.class, "own", int.class);
        MethodHandle forName = lookup.findStatic(Class.class, "forName", MethodType.methodType(Class.class, String.class));
        Callers c = new Callers();
        own.set(c, 2);
        return lookup + " " + (int) hidden.invokeExact(c, 21) + " " + (int) secret.invokeExact(c) + " "
                + (Class<?>) forName.invokeExact("Callers$Names") + " " + lookup.hasFullPrivilegeAccess();
    }

    static Object privateLookup() throws Throwable {
        return MethodHandles.privateLookupIn(String.class, MethodHandles.lookup());
    }

    static Object unreflect() throws Throwable {
        Method m = Callers.class.getDeclaredMethod("hidden", int.class);
        return (int) MethodHandles.lookup().unreflect(m).invokeExact(new Callers(), 2);
    }

    static Object publicLookup() throws Throwable {
        return MethodHandles.publicLookup().findVirtual(Callers.class, "hidden", MethodType.methodType(int.class, int.class));
    }

    static Object updaters() {
        Callers c = new Callers();
        AtomicIntegerFieldUpdater<Callers> i = AtomicIntegerFieldUpdater.newUpdater(Callers.class, "updated");
        AtomicLongFieldUpdater<Callers> l = AtomicLongFieldUpdater.newUpdater(Callers.class, "updatedLong");
        AtomicReferenceFieldUpdater<Callers, String> t =
                AtomicReferenceFieldUpdater.newUpdater(Callers.class, String.class, "updatedText");
        return i.incrementAndGet(c) + " " + l.addAndGet(c, 4) + " " + t.getAndSet(c, "b") + " " + c.updatedText;
    }

    static Object updaterFails() {
        return AtomicIntegerFieldUpdater.newUpdater(Thread.class, "priority");
    }

    // ---- stacks ---------------------------------------------------------------------------------

    static class Callee {
        static Class<?> caller() {
            return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).getCallerClass();
        }

        static String frames() {
            return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).walk(s -> s
                    .filter(f -> f.getDeclaringClass().getModule() == Callers.class.getModule())
                    .map(f -> f.getDeclaringClass().getSimpleName() + "." + f.getMethodName() + f.getMethodType())
                    .collect(Collectors.joining(" ")));
        }
    }

    static Object walker() {
        return Callee.caller() + " " + Callee.frames();
    }

    static Object walkerReflected() throws Exception {
        Method m = Callee.class.getDeclaredMethod("caller");
        return m.invoke(null);
    }

    static Object privileged() {
        return AccessController.doPrivileged((PrivilegedAction<Object>) () -> Callee.caller() + " " + AccessController.getContext().getClass());
    }

    static Object protectionDomain() {
        return Callers.class.getProtectionDomain().getCodeSource() != null;
    }

    // ---- logging --------------------------------------------------------------------------------

    static final List<String> RECORDS = new ArrayList<>();
    static final Logger LOGGER = Logger.getLogger("callers");

    static {
        LOGGER.setUseParentHandlers(false);
        LOGGER.addHandler(new Handler() {
            @Override
            public void publish(LogRecord record) {
                RECORDS.add(record.getSourceClassName() + "." + record.getSourceMethodName() + " " + record.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
    }

    static Object logger() {
        RECORDS.clear();
        LOGGER.info("plain");
        LOGGER.log(Level.WARNING, () -> "supplied");
        Runnable r = () -> LOGGER.warning("lambda");
        r.run();
        return RECORDS;
    }

    static Object newLogger() {
        return Logger.getLogger("callers.sub").getParent().getName() + " " + Logger.getAnonymousLogger().getName();
    }

    static Object systemLogger() {
        return System.getLogger("callers.system").getName();
    }

    // ---- modules, libraries, system -------------------------------------------------------------

    static Object modules() {
        Module own = Callers.class.getModule();
        own.addReads(Object.class.getModule());
        own.addExports("other", Object.class.getModule());
        own.addUses(Names.class);
        return own.isNamed() + " " + own.canUse(Names.class);
    }

    static Object foreignModule() {
        return Object.class.getModule().addReads(Callers.class.getModule());
    }

    static Object library() {
        System.loadLibrary("no_such_library");
        return null;
    }

    static Object libraryPath() {
        System.load("/no/such/library.so");
        return null;
    }

    static Object packages() {
        return Package.getPackage("other") + " " + Callers.class.getPackage().getName().isEmpty() + " "
                + (Package.getPackages().length > 3);
    }

    static Object parallel() {
        return Loader.register();
    }

    static class Loader extends ClassLoader {
        static boolean register() {
            boolean first = registerAsParallelCapable();
            return first && new Loader().isRegisteredAsParallelCapable();
        }
    }

    static Object threads() {
        Thread t = new Thread(() -> {});
        t.setContextClassLoader(Callers.class.getClassLoader());
        return t.getContextClassLoader() == Callers.class.getClassLoader();
    }

    static Object drivers() throws Exception {
        return java.sql.DriverManager.getDrivers().hasMoreElements();
    }

    static Object driverFails() throws Exception {
        return java.sql.DriverManager.getConnection("jdbc:none:x");
    }

    public static void main(String[] args) {
        family("forName", Callers::forName);
        family("forName fails", Callers::forNameFails);
        family("forName in a lambda", Callers::forNameReference);
        family("method reference", Callers::methodReference);
        family("lookup reference", Callers::lookupReference);
        family("resource", Callers::resource);
        family("loaders", Callers::loaders);
        family("members", Callers::members);
        family("bundle", Callers::bundle);
        family("own bundle", Callers::ownBundle);
        family("services", Callers::services);
        family("private members", Callers::privateMembers);
        family("protected members", Callers::protectedMembers);
        family("protected constructor", Callers::protectedConstructor);
        family("foreign private", Callers::foreignPrivate);
        family("foreign accessible", Callers::foreignAccessible);
        family("try accessible", Callers::tryAccessible);
        family("old newInstance", Callers::oldNewInstance);
        family("enclosing", Callers::enclosing);
        family("reflective caller", Callers::reflectiveCaller);
        family("proxy", Callers::proxy);
        family("proxy run", Callers::proxyRun);
        family("lookup", Callers::lookup);
        family("private lookup", Callers::privateLookup);
        family("unreflect", Callers::unreflect);
        family("public lookup", Callers::publicLookup);
        family("updaters", Callers::updaters);
        family("updater fails", Callers::updaterFails);
        family("walker", Callers::walker);
        family("walker reflected", Callers::walkerReflected);
        family("privileged", Callers::privileged);
        family("protection domain", Callers::protectionDomain);
        family("logger", Callers::logger);
        family("new logger", Callers::newLogger);
        family("system logger", Callers::systemLogger);
        family("modules", Callers::modules);
        family("foreign module", Callers::foreignModule);
        family("library", Callers::library);
        family("library path", Callers::libraryPath);
        family("packages", Callers::packages);
        family("parallel", Callers::parallel);
        family("threads", Callers::threads);
        family("drivers", Callers::drivers);
        family("driver fails", Callers::driverFails);
    }
}
