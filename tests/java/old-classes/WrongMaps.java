import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * WrongMaps IN OUT: writes the class file IN at version 50, with its stack maps, in which every
 * class of a local variable other than the class itself is replaced by Integer. HotSpot accepts
 * the class with its old verifier.
 */
public class WrongMaps {
    public static void main(String[] arguments) throws Exception {
        ClassNode node = new ClassNode();
        new ClassReader(Files.readAllBytes(Path.of(arguments[0]))).accept(node, 0);
        node.version = 50;
        node.nestMembers = null;
        node.nestHostClass = null;
        for (MethodNode method : node.methods) {
            for (AbstractInsnNode instruction : method.instructions) {
                if (instruction instanceof FrameNode frame && frame.local != null) {
                    List<Object> locals = new ArrayList<>(frame.local);
                    locals.replaceAll(t -> t instanceof String s && !s.equals(node.name) ? "java/lang/Integer" : t);
                    frame.local = locals;
                }
            }
        }
        ClassWriter writer = new ClassWriter(0);
        node.accept(writer);
        Files.write(Path.of(arguments[1]), writer.toByteArray());
    }
}
