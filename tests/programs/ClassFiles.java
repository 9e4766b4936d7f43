import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Digests of class files. */
final class ClassFiles {
    private ClassFiles() {}

    /** Prints a digest for each tenth file, which covers this file and those before it. */
    static void print(Path folder) throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(f -> f.toString().endsWith(".class")).sorted().collect(Collectors.toList());
        }
        Digest digest = new Digest();
        for (int i = 0; i < files.size(); i++) {
            digest.add(folder.relativize(files.get(i)).toString()).add(read(files.get(i)));
            if (i % 10 == 9 || i == files.size() - 1) System.out.println("  " + folder.relativize(files.get(i)) + " " + digest);
        }
        System.out.println(files.size() + " class files");
    }

    private static byte[] read(Path file) throws IOException {
        return Files.readAllBytes(file);
    }
}
