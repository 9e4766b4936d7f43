import java.nio.file.Files;
import java.nio.file.Path;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * FinalFields OUT.class: writes the class Finals. It has a final field of each kind, and all fields have the same name, as some
 * obfuscators write them. The constructor stores values that do not fit into the smaller kinds, and the program prints what the
 * fields hold then. A second method stores to a field of an object that is null, which version 52 allows in every method.
 */
public class FinalFields implements Opcodes {
    private static final String[] KINDS = {"Z", "B", "C", "S", "I", "J", "F", "D", "Ljava/lang/String;", "[I"};

    private static void store(MethodVisitor to, String kind, Object value) {
        to.visitVarInsn(ALOAD, 0);
        if (value == null) {
            to.visitIntInsn(BIPUSH, 3);
            to.visitIntInsn(NEWARRAY, T_INT);
        } else {
            to.visitLdcInsn(value);
        }
        to.visitFieldInsn(PUTFIELD, "Finals", "a", kind);
    }

    public static void main(String[] arguments) throws Exception {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(V1_8, ACC_PUBLIC, "Finals", null, "java/lang/Object", null);
        for (String kind : KINDS) {
            writer.visitField(ACC_FINAL, "a", kind, null, null).visitEnd();
        }
        MethodVisitor made = writer.visitMethod(ACC_PUBLIC, "<init>", "()V", null, null);
        made.visitCode();
        made.visitVarInsn(ALOAD, 0);
        made.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
        Object[] values = {3, 0x1ff, 0x12345, 0x18000, -7, 1L << 40, 1.5f, 2.5, "text", null};
        for (int i = 0; i < KINDS.length; i++) {
            store(made, KINDS[i], values[i]);
        }
        made.visitInsn(RETURN);
        made.visitMaxs(0, 0);
        made.visitEnd();
        MethodVisitor wrong = writer.visitMethod(ACC_STATIC, "wrong", "(LFinals;)V", null, null);
        wrong.visitCode();
        store(wrong, "I", 8);
        wrong.visitInsn(RETURN);
        wrong.visitMaxs(0, 0);
        wrong.visitEnd();
        MethodVisitor main = writer.visitMethod(ACC_PUBLIC | ACC_STATIC, "main", "([Ljava/lang/String;)V", null, null);
        main.visitCode();
        main.visitTypeInsn(NEW, "Finals");
        main.visitInsn(DUP);
        main.visitMethodInsn(INVOKESPECIAL, "Finals", "<init>", "()V", false);
        main.visitVarInsn(ASTORE, 1);
        main.visitVarInsn(ALOAD, 1);
        main.visitMethodInsn(INVOKESTATIC, "Finals", "wrong", "(LFinals;)V", false);
        for (String kind : KINDS) {
            main.visitFieldInsn(GETSTATIC, "java/lang/System", "out", "Ljava/io/PrintStream;");
            main.visitVarInsn(ALOAD, 1);
            main.visitFieldInsn(GETFIELD, "Finals", "a", kind);
            if (kind.equals("[I")) {
                main.visitInsn(ARRAYLENGTH);
            }
            String printed = kind.equals("[I") || "BS".contains(kind) ? "I" : kind;
            main.visitMethodInsn(INVOKEVIRTUAL, "java/io/PrintStream", "println", "(" + printed + ")V", false);
        }
        Label start = new Label();
        Label end = new Label();
        Label caught = new Label();
        main.visitTryCatchBlock(start, end, caught, "java/lang/NullPointerException");
        main.visitLabel(start);
        main.visitInsn(ACONST_NULL);
        main.visitMethodInsn(INVOKESTATIC, "Finals", "wrong", "(LFinals;)V", false);
        main.visitLabel(end);
        main.visitInsn(RETURN);
        main.visitLabel(caught);
        main.visitFrame(F_FULL, 2, new Object[] {"[Ljava/lang/String;", "Finals"}, 1, new Object[] {"java/lang/NullPointerException"});
        main.visitInsn(POP);
        main.visitFieldInsn(GETSTATIC, "java/lang/System", "out", "Ljava/io/PrintStream;");
        main.visitLdcInsn("caught");
        main.visitMethodInsn(INVOKEVIRTUAL, "java/io/PrintStream", "println", "(Ljava/lang/String;)V", false);
        main.visitInsn(RETURN);
        main.visitMaxs(0, 0);
        main.visitEnd();
        writer.visitEnd();
        Files.write(Path.of(arguments[0]), writer.toByteArray());
    }
}
