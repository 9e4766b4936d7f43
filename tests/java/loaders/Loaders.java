import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntUnaryOperator;

/**
 * `Loaders FOLDER strict|denied|twins|unload`: Guest in loaders that delegate only `java.*` to
 * their parent. In the mode `denied`, a part of `java.*` is not delegated either.
 */
public class Loaders {
    /** Finds the classes of a folder and those of `java.*`, and no others. */
    static class Strict extends ClassLoader {
        private final Path folder;
        private final String denied;

        Strict(Path folder, String denied) {
            super(null);
            this.folder = folder;
            this.denied = denied;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> found = findLoadedClass(name);
                if (found != null) {
                    return found;
                }
                if (name.startsWith("java.") && !name.startsWith(denied)) {
                    return super.loadClass(name, resolve);
                }
                try {
                    byte[] bytes = Files.readAllBytes(folder.resolve(name.replace('.', '/') + ".class"));
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name);
                }
            }
        }
    }

    static IntUnaryOperator guest(Path folder) throws Exception {
        return guest(folder, "java.none.");
    }

    static IntUnaryOperator guest(Path folder, String denied) throws Exception {
        Class<?> type = new Strict(folder, denied).loadClass("Guest");
        return (IntUnaryOperator) type.getDeclaredConstructor().newInstance();
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        long sum = 0;
        switch (args[1]) {
            case "strict" -> {
                IntUnaryOperator one = guest(folder);
                for (int i = 0; i < 10; i++) {
                    sum += one.applyAsInt(i);
                }
            }
            case "denied" -> {
                IntUnaryOperator one = guest(folder, "java.lang.invoke.Veneer");
                for (int i = 0; i < 10; i++) {
                    sum += one.applyAsInt(i);
                }
            }
            case "twins" -> {
                IntUnaryOperator one = guest(folder);
                IntUnaryOperator other = guest(folder);
                for (int i = 0; i < 10; i++) {
                    sum += one.applyAsInt(3) + (i % 2 == 0 ? other.applyAsInt(4) : 0);
                }
                System.out.println(one.getClass() != other.getClass());
            }
            case "unload" -> {
                for (int i = 0; i < 200; i++) {
                    IntUnaryOperator one = guest(folder);
                    for (int j = 0; j < 5; j++) {
                        sum += one.applyAsInt(3);
                    }
                    if (i % 20 == 19) {
                        System.gc();
                    }
                }
            }
            default -> throw new IllegalArgumentException(args[1]);
        }
        System.out.println("sum " + sum);
    }
}
