import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;

/**
 * Eclipse's compiler on a source tree, and on sources with errors. Arguments: the folder of the
 * sources, and a folder for output.
 */
public class Ecj {
    public static void main(String[] args) throws Exception {
        Path sources = Path.of(args[0]), out = Path.of(args[1]);
        for (String level : new String[] {"-8", "-17"}) {
            Path into = out.resolve("level" + level);
            List<String> command = new ArrayList<>(List.of(level, "-g", "-nowarn", "-proc:none", "-d", into.toString()));
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(f -> f.toString().endsWith(".java")).map(Path::toString).sorted().forEach(command::add);
            }
            StringWriter said = new StringWriter();
            boolean good = BatchCompiler.compile(command.toArray(new String[0]), new PrintWriter(said), new PrintWriter(said), null);
            System.out.println("level " + level + ": " + good + " " + said.toString().length());
            ClassFiles.print(into);
        }
        Path bad = Files.writeString(out.resolve("Bad.java"), Javac.BAD);
        StringWriter said = new StringWriter();
        boolean good = BatchCompiler.compile(new String[] {"-17", "-proc:none", "-d", "none", bad.toString()}, new PrintWriter(said), new PrintWriter(said), null);
        System.out.println("bad: " + good + "\n" + said.toString().replace(out.toString(), "."));
    }
}
