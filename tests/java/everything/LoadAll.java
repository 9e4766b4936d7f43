import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Loads and links every class of the modules that are named, so that the verifier sees each, and says how many. */
public class LoadAll {
    public static void main(String[] modules) throws Exception {
        FileSystem image = FileSystems.getFileSystem(URI.create("jrt:/"));
        int linked = 0;
        for (String module : modules) {
            Path root = image.getPath("/modules/" + module);
            List<Path> files;
            try (Stream<Path> all = Files.walk(root)) {
                files = all.filter(p -> p.toString().endsWith(".class")).sorted().collect(Collectors.toList());
            }
            for (Path file : files) {
                String path = root.relativize(file).toString();
                String name = path.substring(0, path.length() - ".class".length()).replace('/', '.');
                if (name.equals("module-info")) {
                    continue;
                }
                try {
                    // Asking for methods links the class.
                    Class.forName(name, false, ClassLoader.getSystemClassLoader()).getDeclaredMethods();
                    linked++;
                } catch (Throwable e) {
                    System.out.println(name + " " + e);
                }
            }
        }
        System.out.println("linked " + linked);
    }
}
