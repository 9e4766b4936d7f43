import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Commons Collections at each version from 45 to 50, without stack maps. A class that needs newer
 * features (`invokedynamic`, class constants below 49, code in interfaces) is not changed. The
 * program prints the number of downgraded classes and the content of the collections.
 */
public class Downgraded {
    static final String PACKAGE = "org.apache.commons.collections4.";

    static final class Loader extends ClassLoader {
        final int version;
        int downgraded;

        Loader(int version) {
            super(Downgraded.class.getClassLoader());
            this.version = version;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(PACKAGE)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = in.readAllBytes();
                byte[] old = old(bytes, version);
                downgraded += old != null ? 1 : 0;
                bytes = old != null ? old : bytes;
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** Returns the class at the old version, or null if it needs newer features. */
    static byte[] old(byte[] bytes, int version) {
        ClassReader reader = new ClassReader(bytes);
        boolean[] later = {(reader.getAccess() & (Opcodes.ACC_ANNOTATION | Opcodes.ACC_ENUM)) != 0};
        boolean isInterface = (reader.getAccess() & Opcodes.ACC_INTERFACE) != 0;
        ClassWriter writer = new ClassWriter(0);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public void visit(int v, int access, String name, String signature, String above, String[] interfaces) {
                super.visit(version == 45 ? Opcodes.V1_1 : version, access, name, signature, above, interfaces);
            }

            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
                later[0] |= isInterface && (access & Opcodes.ACC_ABSTRACT) == 0 && !name.equals("<clinit>");
                return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, thrown)) {
                    @Override
                    public void visitInvokeDynamicInsn(String called, String of, Handle bootstrap, Object... arguments) {
                        later[0] = true;
                    }

                    @Override
                    public void visitLdcInsn(Object constant) {
                        later[0] |= constant instanceof Type && version < 49;
                        super.visitLdcInsn(constant);
                    }

                    @Override
                    public void visitMethodInsn(int op, String owner, String called, String of, boolean ofInterface) {
                        later[0] |= ofInterface && op != Opcodes.INVOKEINTERFACE;
                        super.visitMethodInsn(op, owner, called, of, ofInterface);
                    }
                };
            }
        }, ClassReader.SKIP_FRAMES);
        return later[0] ? null : writer.toByteArray();
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static long use(Loader loader) throws Exception {
        long sum = 0;
        for (String name : List.of("map.HashedMap", "map.LinkedMap", "map.LRUMap", "map.CaseInsensitiveMap", "map.Flat3Map", "bidimap.TreeBidiMap", "bidimap.DualHashBidiMap", "trie.PatriciaTrie")) {
            Map map = (Map) loader.loadClass(PACKAGE + name).getDeclaredConstructor().newInstance();
            for (int i = 0; i < 400; i++) {
                map.put("key" + i * 7 % 211, "value" + i);
                if (i % 3 == 0) {
                    map.remove("key" + i % 50);
                }
            }
            List<String> entries = new ArrayList<>();
            for (Object entry : map.entrySet()) {
                entries.add(entry.toString());
            }
            entries.sort(null);
            sum = sum * 31 + entries.hashCode();
        }
        for (String name : List.of("list.TreeList", "list.CursorableLinkedList", "list.NodeCachingLinkedList", "bag.HashBag", "queue.CircularFifoQueue", "multiset.HashMultiSet")) {
            Collection all = (Collection) loader.loadClass(PACKAGE + name).getDeclaredConstructor().newInstance();
            for (int i = 0; i < 300; i++) {
                all.add("item" + i % 37);
            }
            int n = 0;
            for (Iterator each = all.iterator(); each.hasNext(); n++) {
                String item = (String) each.next();
                if (n % 5 == 0) {
                    each.remove();
                }
                sum += item.length();
            }
            sum = sum * 31 + all.size();
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        for (int version = 45; version <= 50; version++) {
            Loader loader = new Loader(version);
            long sum = 0;
            for (int round = 0; round < 5; round++) {
                sum = sum * 17 + use(loader);
            }
            System.out.println("version " + version + ": " + loader.downgraded + " classes, " + sum);
        }
    }
}
