import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;

/**
 * Another agent. With `retransform`, it retransforms all classes again and again. It can also
 * redefine a class on request.
 */
public class Other {
    static volatile Instrumentation instrumentation;
    static volatile int rounds;

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
        if (!"retransform".equals(arguments)) {
            return;
        }
        given.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
                return null;
            }
        }, true);
        Thread thread = new Thread(() -> {
            while (rounds < 2) {
                round(given);
            }
        });
        thread.start();
    }

    private static void round(Instrumentation given) {
        List<Class<?>> all = new ArrayList<>();
        for (Class<?> type : given.getAllLoadedClasses()) {
            if (given.isModifiableClass(type)) {
                all.add(type);
            }
        }
        try {
            given.retransformClasses(all.toArray(new Class<?>[0]));
        } catch (Throwable e) {
            System.out.println("retransform failed: " + e);
        }
        rounds++;
    }

    /** Redefines a class with another class file. */
    public static void redefine(Class<?> type, byte[] bytes) throws Exception {
        instrumentation.redefineClasses(new ClassDefinition(type, bytes));
    }
}
