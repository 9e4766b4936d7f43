package oracle;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Array;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Counts the accesses of instrumented copies by instruction and class of the object. When the JVM ends, it
 * writes a line for each pair into the file that the property {@code oracle.counts} names: the number of the
 * instruction, the class, and the count. The class is empty if it is known from the instruction, and
 * {@code !} if the access throws.
 */
public final class Accesses {
    private static final class Site {
        long count;
        long failed;
        Map<Class<?>, long[]> byClass;
        Class<?> last;
        long[] lastCount;

        void count(Class<?> type) {
            if (type != last) {
                if (byClass == null) {
                    byClass = new IdentityHashMap<>(2);
                }
                last = type;
                lastCount = byClass.computeIfAbsent(type, any -> new long[1]);
            }
            lastCount[0]++;
        }
    }

    private static Site[] sites = new Site[1024];

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Accesses::write));
    }

    private Accesses() {}

    private static Site site(int number) {
        if (number >= sites.length) {
            sites = java.util.Arrays.copyOf(sites, Math.max(number + 1, 2 * sites.length));
        }
        Site site = sites[number];
        if (site == null) {
            site = sites[number] = new Site();
        }
        return site;
    }

    public static synchronized void count(int site) {
        site(site).count++;
    }

    public static synchronized void field(Object o, int site) {
        if (o == null) {
            site(site).failed++;
        } else {
            site(site).count(o.getClass());
        }
    }

    public static synchronized void element(Object array, int index, int site) {
        if (array == null || index < 0 || index >= Array.getLength(array)) {
            site(site).failed++;
        } else {
            site(site).count(array.getClass());
        }
    }

    public static synchronized void array(Object array, int site) {
        site(site).count(array.getClass());
    }

    /** An array, and the arrays that the same instruction has allocated in it. */
    public static synchronized void nested(Object array, int site) {
        array(array, site);
        if (array instanceof Object[]) {
            for (Object inner : (Object[]) array) {
                if (inner != null) {
                    nested(inner, site);
                }
            }
        }
    }

    private static synchronized void write() {
        try (PrintWriter out = new PrintWriter(System.getProperty("oracle.counts"), "UTF-8")) {
            for (int number = 0; number < sites.length; number++) {
                Site site = sites[number];
                if (site == null) {
                    continue;
                }
                if (site.count > 0) {
                    out.println(number + "\t\t" + site.count);
                }
                if (site.failed > 0) {
                    out.println(number + "\t!\t" + site.failed);
                }
                if (site.byClass != null) {
                    for (Map.Entry<Class<?>, long[]> entry : site.byClass.entrySet()) {
                        out.println(number + "\t" + entry.getKey().getTypeName() + "\t" + entry.getValue()[0]);
                    }
                }
            }
            if (out.checkError()) {
                throw new IOException("the counts cannot be written");
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
    }
}
