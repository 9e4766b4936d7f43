import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * Loads and links classes without initialising them, so that the verifier checks each class, and
 * prints the outcome for each.
 *
 * <pre>
 *   LinkAll PART PARTS [wait] SOURCE…      SOURCE: jrt:/MODULE or a jar of the class path
 * </pre>
 *
 * The classes are sorted by name and divided into PARTS pieces of about the same size in bytes.
 * PART is the number of the piece to load, from 0. With "wait", the program prints its process id
 * first, prints "linked" when all classes are linked, and then waits for a line.
 */
public class LinkAll {
    public static void main(String[] arguments) throws Exception {
        int part = Integer.parseInt(arguments[0]);
        int parts = Integer.parseInt(arguments[1]);
        boolean wait = arguments[2].equals("wait");
        if (wait) {
            System.out.println("pid " + ProcessHandle.current().pid());
        }
        Map<String, Long> sizes = new TreeMap<>();
        for (int i = wait ? 3 : 2; i < arguments.length; i++) {
            if (arguments[i].startsWith("jrt:/")) {
                module(arguments[i].substring("jrt:/".length()), sizes);
            } else {
                jar(arguments[i], sizes);
            }
        }
        // Kept reachable as long as instruments may be attached to them.
        List<Class<?>> classes = new ArrayList<>();
        StringBuilder out = new StringBuilder();
        for (String name : piece(sizes, part, parts)) {
            out.append(name).append(' ').append(link(name, classes)).append('\n');
        }
        out.append("classes ").append(classes.size()).append('\n');
        System.out.print(out);
        if (wait) {
            System.out.println("linked");
            System.in.read();
        }
        System.out.println("end");
    }

    private static List<String> piece(Map<String, Long> sizes, int part, int parts) {
        long all = 0;
        for (long size : sizes.values()) {
            all += size;
        }
        List<String> names = new ArrayList<>();
        long before = 0;
        for (Map.Entry<String, Long> one : sizes.entrySet()) {
            if (before * parts / Math.max(all, 1) == part) {
                names.add(one.getKey());
            }
            before += one.getValue();
        }
        return names;
    }

    private static void module(String name, Map<String, Long> sizes) throws IOException {
        FileSystem image = FileSystems.getFileSystem(URI.create("jrt:/"));
        Path root = image.getPath("/modules/" + name);
        try (Stream<Path> all = Files.walk(root)) {
            for (Path file : (Iterable<Path>) all::iterator) {
                String place = root.relativize(file).toString();
                if (place.endsWith(".class")) {
                    add(place, Files.size(file), sizes);
                }
            }
        }
    }

    private static void jar(String path, Map<String, Long> sizes) throws IOException {
        try (JarFile jar = new JarFile(path)) {
            jar.stream().filter(entry -> entry.getName().endsWith(".class"))
                    .forEach(entry -> add(entry.getName(), Math.max(entry.getSize(), 0), sizes));
        }
    }

    private static void add(String place, long size, Map<String, Long> sizes) {
        // Classes for a certain release (multi-release jars) are loaded by their usual name.
        if (!place.startsWith("META-INF/") && !place.endsWith("module-info.class")) {
            sizes.put(place.substring(0, place.length() - ".class".length()).replace('/', '.'), size);
        }
    }

    private static String link(String name, List<Class<?>> classes) {
        try {
            Class<?> loaded = Class.forName(name, false, ClassLoader.getSystemClassLoader());
            classes.add(loaded);
            // Requesting the members links the class. The agent must not add any members.
            int methods = loaded.getDeclaredMethods().length;
            int fields = loaded.getDeclaredFields().length;
            return "linked " + methods + " " + fields + " " + loaded.getModifiers();
        } catch (VerifyError | ClassFormatError e) {
            // The message contains positions in the code, which arming changes.
            return e.getClass().getName();
        } catch (NoClassDefFoundError e) {
            // The first missing class depends on the order of methods, which depends on addresses
            // in the JVM.
            String text = String.valueOf(e).replace('\n', ' ');
            return text.contains("(wrong name: ") ? text : e.getClass().getName();
        } catch (Throwable e) {
            return String.valueOf(e).replace('\n', ' ');
        }
    }
}
