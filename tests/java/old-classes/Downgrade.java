import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.zip.ZipFile;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.RecordComponentVisitor;
import org.objectweb.asm.Type;

/**
 * Downgrade OUT VERSION (JAR | FOLDER)...: writes the classes with an old version and without
 * stack maps. Classes that need a newer version (invokedynamic, records, code in interfaces, and
 * so on) are not changed.
 */
public class Downgrade {
    private static Path out;
    private static int version;
    private static int done;
    private static int left;

    public static void main(String[] arguments) throws Exception {
        out = Path.of(arguments[0]);
        version = Integer.parseInt(arguments[1]);
        for (int i = 2; i < arguments.length; i++) {
            Path source = Path.of(arguments[i]);
            if (Files.isDirectory(source)) {
                try (var files = Files.walk(source)) {
                    for (Path file : (Iterable<Path>) files::iterator) {
                        if (Files.isRegularFile(file)) write(source.relativize(file).toString(), Files.readAllBytes(file));
                    }
                }
                continue;
            }
            try (ZipFile zip = new ZipFile(source.toFile())) {
                for (var entry : Collections.list(zip.entries())) {
                    if (!entry.isDirectory()) write(entry.getName(), zip.getInputStream(entry).readAllBytes());
                }
            }
        }
        System.out.println("downgraded " + done + ", left " + left);
    }

    private static void write(String name, byte[] bytes) throws Exception {
        if (name.startsWith("META-INF/versions") || name.endsWith("module-info.class")) return;
        if (name.endsWith(".class") && !name.endsWith("package-info.class")) {
            byte[] old = downgraded(bytes);
            if (old == null) {
                left++;
            } else {
                done++;
                bytes = old;
            }
        }
        Path path = out.resolve(name);
        Files.createDirectories(path.getParent());
        Files.write(path, bytes);
    }

    /** Returns the class at the old version, or null if it needs newer features. */
    private static byte[] downgraded(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        boolean[] young = {false};
        boolean isInterface = (reader.getAccess() & Opcodes.ACC_INTERFACE) != 0;
        // Before version 49, these flags had another meaning.
        if (version < 49 && (reader.getAccess() & (Opcodes.ACC_ANNOTATION | Opcodes.ACC_ENUM)) != 0) return null;
        ClassWriter writer = new ClassWriter(0);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public void visit(int v, int access, String name, String signature, String superName, String[] interfaces) {
                // 45.3 is the first version that is still in use.
                super.visit(version == 45 ? Opcodes.V1_1 : version, access, name, signature, superName, interfaces);
            }

            @Override
            public void visitNestHost(String host) {}

            @Override
            public void visitNestMember(String member) {}

            @Override
            public void visitPermittedSubclass(String subclass) {}

            @Override
            public RecordComponentVisitor visitRecordComponent(String name, String descriptor, String signature) {
                young[0] = true;
                return null;
            }

            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                if (isInterface && !name.equals("<clinit>") && (access & Opcodes.ACC_ABSTRACT) == 0) young[0] = true;
                // Since version 55, private members of the nest are called without accessors.
                return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) {
                    @Override
                    public void visitFrame(int type, int locals, Object[] local, int depth, Object[] stack) {}

                    @Override
                    public void visitInvokeDynamicInsn(String n, String d, Handle handle, Object... rest) {
                        young[0] = true;
                    }

                    @Override
                    public void visitLdcInsn(Object value) {
                        if (value instanceof ConstantDynamic || value instanceof Handle) young[0] = true;
                        if (value instanceof Type type && (type.getSort() == Type.METHOD || version < 49)) young[0] = true;
                        super.visitLdcInsn(value);
                    }

                    @Override
                    public void visitMethodInsn(int op, String owner, String n, String d, boolean ofInterface) {
                        if (ofInterface && op != Opcodes.INVOKEINTERFACE) young[0] = true;
                        super.visitMethodInsn(op, owner, n, d, ofInterface);
                    }
                };
            }
        }, ClassReader.SKIP_FRAMES);
        return young[0] ? null : writer.toByteArray();
    }
}
