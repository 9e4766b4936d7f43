import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Runs the JDK's own compiler on a source tree, again and again in one JVM: {@code JavacLoop TREE
 * ROUNDS [CLASS]}. CLASS names another {@link JavaCompiler}.
 *
 * <p>Sources are read once, and class files stay in memory, so that a round measures only the
 * compiler. Standard output has the number of class files and a checksum of all of them for each
 * round; standard error has {@code round N ms}.
 */
public final class JavacLoop {
    private JavacLoop() {}

    public static void main(String[] args) throws IOException {
        List<JavaFileObject> sources = sources(Path.of(args[0]));
        int rounds = Integer.parseInt(args[1]);
        JavaCompiler compiler = args.length > 2 ? other(args[2]) : ToolProvider.getSystemJavaCompiler();
        // Other compilers do not know `-implicit`, and compile for an old version by default.
        List<String> options = args.length > 2 ? List.of("-g", "-proc:none", "-nowarn", "-17")
                : List.of("-g", "-proc:none", "-implicit:none", "-nowarn");
        try (Kept kept = new Kept(compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8))) {
            for (int round = 1; round <= rounds; round++) {
                kept.classes.clear();
                long begin = System.nanoTime();
                boolean good = compiler.getTask(null, kept, null, options, null, sources).call();
                long time = System.nanoTime() - begin;
                if (!good) {
                    throw new IllegalStateException("the tree does not compile");
                }
                System.out.println("round " + round + " " + kept.classes.size() + " classes " + kept.checksum());
                System.err.printf("round %d %.2f ms%n", round, time / 1e6);
            }
        }
    }

    private static JavaCompiler other(String name) {
        try {
            return (JavaCompiler) Class.forName(name).getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<JavaFileObject> sources(Path tree) throws IOException {
        try (Stream<Path> paths = Files.walk(tree)) {
            return paths.filter(path -> path.toString().endsWith(".java")).sorted().map(Source::new)
                    .map(source -> (JavaFileObject) source).toList();
        }
    }

    /** A source file in memory. */
    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(Path path) {
            super(path.toUri(), Kind.SOURCE);
            try {
                text = Files.readString(path);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /** Keeps class files in memory. */
    private static final class Kept extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> classes = new TreeMap<>();

        Kept(JavaFileManager files) {
            super(files);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            classes.put(name, bytes);
            return new SimpleJavaFileObject(URI.create("mem:///" + name.replace('.', '/') + kind.extension), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return bytes;
                }
            };
        }

        String checksum() {
            CRC32 sum = new CRC32();
            for (Map.Entry<String, ByteArrayOutputStream> one : classes.entrySet()) {
                sum.update(one.getKey().getBytes(StandardCharsets.UTF_8));
                sum.update(one.getValue().toByteArray());
            }
            return Long.toHexString(sum.getValue());
        }
    }
}
