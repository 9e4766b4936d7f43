import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;

/**
 * An agent that writes the class files of the program's loaded classes, as the JVM has them, to the
 * folder that its argument names.
 */
public class Dump {
    public static void agentmain(String folder, Instrumentation instrumentation) throws Exception {
        List<Class<?>> wanted = new ArrayList<>();
        for (Class<?> one : instrumentation.getAllLoadedClasses()) {
            boolean own = one.getClassLoader() == ClassLoader.getSystemClassLoader();
            if (own && !one.isHidden() && one.getName().startsWith("Desk") && instrumentation.isModifiableClass(one)) {
                wanted.add(one);
            }
        }
        ClassFileTransformer writer = new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
                if (redefined != null && wanted.contains(redefined)) {
                    try {
                        Files.write(Path.of(folder, name + ".class"), bytes);
                    } catch (java.io.IOException e) {
                        System.err.println(e);
                    }
                }
                return null;
            }
        };
        instrumentation.addTransformer(writer, true);
        instrumentation.retransformClasses(wanted.toArray(new Class<?>[0]));
        instrumentation.removeTransformer(writer);
    }
}
