import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Makes copies of class files that count their own accesses to memory, with ASM. They share no code with
 * Veneer.
 *
 * <p>Arguments: the folder for the plain files, the folder for the copies, the file for the table of
 * instructions, then folders and jars. Other files are copied as they are.
 *
 * <p>The table has one line for each instruction: its kind, class, method, source line, accessed member, and
 * whether it is before the call of another constructor. The number of the line is the number that the copy
 * passes to {@code oracle.Accesses}.
 */
public final class AsmCopies {
    private final Path plain;
    private final Path counted;
    private final List<String> table = new ArrayList<>();

    private AsmCopies(Path plain, Path counted) {
        this.plain = plain;
        this.counted = counted;
    }

    public static void main(String[] args) throws IOException {
        AsmCopies copies = new AsmCopies(Path.of(args[0]), Path.of(args[1]));
        for (int i = 3; i < args.length; i++) {
            Path input = Path.of(args[i]);
            if (Files.isDirectory(input)) {
                copies.copyAll(input);
                continue;
            }
            try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + input.toUri()), Map.of())) {
                copies.copyAll(jar.getPath("/"));
            }
        }
        Files.write(Path.of(args[2]), copies.table);
    }

    private void copyAll(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile).sorted()::iterator) {
                String name = root.relativize(file).toString();
                // Both runs must use the same classes, and no signature fits a copy.
                boolean isForJars = name.startsWith("META-INF/versions/") || name.endsWith(".RSA") || name.endsWith(".SF");
                if (!isForJars && !name.endsWith("module-info.class")) {
                    copy(file, name);
                }
            }
        }
    }

    private void copy(Path file, String name) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        write(plain.resolve(name), bytes);
        write(counted.resolve(name), name.endsWith(".class") ? count(bytes) : bytes);
    }

    private static void write(Path file, byte[] bytes) throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
    }

    private byte[] count(byte[] bytes) {
        ClassNode node = new ClassNode();
        new ClassReader(bytes).accept(node, 0);
        for (MethodNode method : node.methods) {
            if ((method.access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) == 0) {
                new CountedMethod(node.name.replace('/', '.'), method, table).count();
            }
        }
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        node.accept(writer);
        return writer.toByteArray();
    }
}
