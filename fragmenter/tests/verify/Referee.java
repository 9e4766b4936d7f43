import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.BufferedInputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Usage: Referee FOLDER MUTANTS. Links each mutant with the other classes of the folder. Prints
 * HotSpot's verdict, and the first assumption of the mutant that is false.
 */
public class Referee {
    /** Defines all classes of the program again, one of them from other bytes. */
    static class Loader extends ClassLoader {
        private final Map<String, byte[]> classes;

        Loader(Map<String, byte[]> classes) {
            super(Referee.class.getClassLoader());
            this.classes = classes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                byte[] bytes = classes.get(name);
                if (bytes == null) return super.loadClass(name, resolve);
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : defineClass(name, bytes, 0, bytes.length);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, byte[]> classes = new HashMap<>();
        Path root = Path.of(arguments[0]);
        try (var files = Files.walk(root)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = root.relativize(file).toString();
                if (name.endsWith(".class")) {
                    classes.put(name.substring(0, name.length() - 6).replace('/', '.'), Files.readAllBytes(file));
                }
            }
        }
        StringBuilder out = new StringBuilder();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(arguments[1])))) {
            for (int left = in.readInt(); left > 0; left--) {
                String name = in.readUTF();
                byte[] bytes = in.readNBytes(in.readInt());
                String[] assumptions = new String(in.readNBytes(in.readInt()), "UTF-8").split("\n");
                Map<String, byte[]> mutated = new HashMap<>(classes);
                mutated.put(name, bytes);
                String said = "ok";
                Loader loader = new Loader(mutated);
                Class<?> mutant = null;
                try {
                    mutant = loader.loadClass(name);
                    // This call links the class.
                    mutant.getDeclaredMethods();
                } catch (Throwable e) {
                    said = e.getClass().getSimpleName() + " " + String.valueOf(e.getMessage()).lines().findFirst().orElse("");
                }
                String untrue = "";
                if (said.startsWith("VerifyError")) {
                    for (String assumption : assumptions) {
                        try {
                            if (!assumption.isEmpty() && !holds(assumption.split(" "), loader, mutant)) untrue = assumption;
                        } catch (Throwable e) {
                            untrue = assumption + " " + e;
                        }
                    }
                }
                out.append(said.replace('\t', ' ')).append('\t').append(untrue).append('\n');
            }
        }
        System.out.print(out);
    }

    static Class<?> load(String internal, Loader loader) throws ClassNotFoundException {
        return Class.forName(internal.replace('/', '.'), false, loader);
    }

    static boolean holds(String[] words, Loader loader, Class<?> mutant) throws Exception {
        if (words[0].equals("assignable")) {
            Class<?> to = load(words[2], loader);
            return to.isInterface() || to.isAssignableFrom(load(words[1], loader));
        }
        Class<?> named = load(words[1], loader);
        if (!named.isAssignableFrom(mutant) || named.isInterface()) return true;
        Class<?> receiver = load(words[4], loader);
        if (mutant.isAssignableFrom(receiver)) return true;
        for (Class<?> c = named; c != null; c = c.getSuperclass()) {
            List<Member> members = new ArrayList<>();
            members.addAll(List.of(c.getDeclaredFields()));
            members.addAll(List.of(c.getDeclaredMethods()));
            members.addAll(List.of(c.getDeclaredConstructors()));
            for (Member member : members) {
                String simple = member instanceof Constructor ? "<init>" : member.getName();
                // The program has no overloaded names.
                if (simple.equals(words[2]) && Modifier.isProtected(member.getModifiers())) {
                    return c.getPackage() == mutant.getPackage();
                }
            }
        }
        return true;
    }
}
