import java.nio.file.Files;
import java.nio.file.Path;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * HandlerAtJoin OUT.class: writes the class Join. Its method returns an element of an array, or the exception that reading the
 * element throws. The exception handler is the join of both paths, so its stack map frame names Object and not the exception.
 * scalac 2.10 writes such code.
 */
public class HandlerAtJoin implements Opcodes {
    public static void main(String[] arguments) throws Exception {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(V1_7, ACC_PUBLIC, "Join", null, "java/lang/Object", null);
        MethodVisitor first = writer.visitMethod(ACC_STATIC, "first", "([Ljava/lang/Object;)Ljava/lang/Object;", null, null);
        Label start = new Label();
        Label join = new Label();
        first.visitCode();
        first.visitTryCatchBlock(start, join, join, "java/lang/RuntimeException");
        first.visitLabel(start);
        first.visitVarInsn(ALOAD, 0);
        first.visitInsn(ICONST_0);
        first.visitInsn(AALOAD);
        first.visitLabel(join);
        first.visitFrame(F_SAME1, 0, null, 1, new Object[] {"java/lang/Object"});
        first.visitInsn(ARETURN);
        first.visitMaxs(0, 0);
        first.visitEnd();
        MethodVisitor main = writer.visitMethod(ACC_PUBLIC | ACC_STATIC, "main", "([Ljava/lang/String;)V", null, null);
        main.visitCode();
        for (int i = 0; i < 2; i++) {
            main.visitFieldInsn(GETSTATIC, "java/lang/System", "out", "Ljava/io/PrintStream;");
            main.visitInsn(i == 0 ? ICONST_0 : ICONST_1);
            main.visitTypeInsn(ANEWARRAY, "java/lang/Object");
            main.visitMethodInsn(INVOKESTATIC, "Join", "first", "([Ljava/lang/Object;)Ljava/lang/Object;", false);
            main.visitMethodInsn(INVOKEVIRTUAL, "java/io/PrintStream", "println", "(Ljava/lang/Object;)V", false);
        }
        main.visitInsn(RETURN);
        main.visitMaxs(0, 0);
        main.visitEnd();
        writer.visitEnd();
        Files.write(Path.of(arguments[0]), writer.toByteArray());
    }
}
