import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Determines the counts of the BIT plans in another way: {@code Independent FROM TO} rewrites the
 * class files of a folder into another one. It inserts a call before each instruction, and one
 * more after each branch, which counts the cases in which the branch is not taken. Static
 * initialisers are not changed, because Veneer has no code there.
 */
public final class Independent {
    private static int branches;

    public static void main(String[] args) throws IOException {
        Path from = Path.of(args[0]);
        Path to = Path.of(args[1]);
        List<Path> files;
        try (Stream<Path> all = Files.walk(from)) {
            files = all.filter(f -> f.toString().endsWith(".class")).collect(Collectors.toList());
        }
        for (Path file : files) {
            ClassReader reader = new ClassReader(Files.readAllBytes(file));
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(new Counting(writer), 0);
            Path out = to.resolve(from.relativize(file));
            Files.createDirectories(out.getParent());
            Files.write(out, writer.toByteArray());
        }
        try (PrintWriter names = new PrintWriter(to.resolve("names").toFile())) {
            boolean opcodes = false;
            for (Field field : Opcodes.class.getFields()) {
                opcodes |= field.getName().equals("NOP");
                if (opcodes) {
                    names.println(field.getInt(null) + " " + field.getName().toLowerCase(Locale.ROOT));
                }
            }
        } catch (IllegalAccessException e) {
            throw new IOException(e);
        }
    }

    private static final class Counting extends ClassVisitor {
        Counting(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            return name.equals("<clinit>") ? next : new Body(next);
        }
    }

    private static final class Body extends MethodVisitor {
        Body(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        private void call(String method, int number) {
            super.visitLdcInsn(number);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, "Counted", method, "(I)V", false);
        }

        private void passes(int opcode) {
            call("opcode", opcode);
        }

        @Override
        public void visitInsn(int opcode) {
            passes(opcode);
            super.visitInsn(opcode);
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            passes(opcode);
            super.visitIntInsn(opcode, operand);
        }

        @Override
        public void visitVarInsn(int opcode, int variable) {
            passes(opcode);
            super.visitVarInsn(opcode, variable);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            passes(opcode);
            super.visitTypeInsn(opcode, type);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            passes(opcode);
            super.visitFieldInsn(opcode, owner, name, descriptor);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            passes(opcode);
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            passes(Opcodes.INVOKEDYNAMIC);
            super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            passes(opcode);
            if (opcode == Opcodes.GOTO) {
                super.visitJumpInsn(opcode, label);
                return;
            }
            int branch = branches++;
            call("passed", branch);
            super.visitJumpInsn(opcode, label);
            call("fell", branch);
        }

        @Override
        public void visitLdcInsn(Object value) {
            passes(Opcodes.LDC);
            super.visitLdcInsn(value);
        }

        @Override
        public void visitIincInsn(int variable, int increment) {
            passes(Opcodes.IINC);
            super.visitIincInsn(variable, increment);
        }

        @Override
        public void visitTableSwitchInsn(int min, int max, Label other, Label... labels) {
            passes(Opcodes.TABLESWITCH);
            super.visitTableSwitchInsn(min, max, other, labels);
        }

        @Override
        public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
            passes(Opcodes.LOOKUPSWITCH);
            super.visitLookupSwitchInsn(other, keys, labels);
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            passes(Opcodes.MULTIANEWARRAY);
            super.visitMultiANewArrayInsn(descriptor, dimensions);
        }
    }
}
