import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;

/**
 * Loads and links classes of a jar on the class path: {@code Load JAR COUNT}. Then it prints
 * {@code loaded N} and {@code pid N}, and waits until standard input has {@code stop}.
 */
public final class Load {
    private Load() {}

    public static void main(String[] args) throws Exception {
        List<String> names;
        try (JarFile jar = new JarFile(Path.of(args[0]).toFile())) {
            names = jar.stream().map(entry -> entry.getName()).filter(name -> name.endsWith(".class") && !name.startsWith("META-INF") && !name.contains("-"))
                .map(name -> name.substring(0, name.length() - 6).replace('/', '.')).sorted().toList();
        }
        int count = Integer.parseInt(args[1]), loaded = 0;
        for (int i = 0; i < names.size() && loaded < count; i++) {
            try {
                // Requesting the methods of a class links it. The class is not initialised, so none
                // of its code runs.
                Class.forName(names.get(i), false, Load.class.getClassLoader()).getDeclaredMethods();
                loaded++;
            } catch (LinkageError e) {
                // The class needs another class that is missing.
            }
        }
        System.out.println("loaded " + loaded);
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            System.out.println("what?");
        }
    }
}
