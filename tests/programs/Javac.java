import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * The JDK's compiler on a source tree, and on sources with errors. Arguments: the folder of the
 * sources, and a folder for output.
 */
public class Javac {
    static final String BAD = "import java.util.*;\nclass Bad<T extends Comparable<T>> {\n  int a = \"text\";\n  void m() { undefined(); List<String> l = new ArrayList<Integer>(); }\n"
        + "  int n(int x) { switch (x) { case 1: return 1; case 1: return 2; } }\n  final int f;\n  void g() throws Missing { int y; System.out.println(y); f = 2; }\n"
        + "  <U> U h(U u, T t) { return h(t, u); }\n  Runnable r = () -> { return 5; };\n}\n";

    public static void main(String[] args) throws Exception {
        Path sources = Path.of(args[0]), out = Path.of(args[1]);
        List<Path> files;
        try (Stream<Path> all = Files.walk(sources)) {
            files = all.filter(f -> f.toString().endsWith(".java")).sorted().collect(Collectors.toList());
        }
        for (int i = 0; i < 2; i++) {
            Path into = Files.createDirectories(out.resolve("javac" + i));
            System.out.println(compile(files, into, List.of("--release", i == 0 ? "11" : "17", i == 0 ? "-g" : "-g:none", "-parameters", "-Xlint:all")));
            ClassFiles.print(into);
        }
        Path bad = Files.writeString(out.resolve("Bad.java"), BAD);
        System.out.println(compile(List.of(bad), out, List.of("--release", "17")));
    }

    private static boolean compile(List<Path> files, Path into, List<String> options) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(found, null, null)) {
            manager.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(into));
            List<String> all = new ArrayList<>(options);
            all.add("-proc:none");
            boolean good = compiler.getTask(null, manager, found, all, null, manager.getJavaFileObjectsFromPaths(files)).call();
            Digest warnings = new Digest();
            int count = 0;
            for (Diagnostic<?> d : found.getDiagnostics()) {
                String text = d.getKind() + " " + d.getLineNumber() + ":" + d.getColumnNumber() + " " + d.getCode() + " " + d.getMessage(null);
                warnings.add(text);
                if (d.getKind() == Diagnostic.Kind.ERROR) System.out.println(text); else count++;
            }
            System.out.println(count + " warnings " + warnings);
            return good;
        }
    }
}
