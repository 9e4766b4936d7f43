import java.util.List;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/** A method, into which counting code is inserted at each instruction that accesses memory or allocates. */
final class CountedMethod {
    private static final String ORACLE = "oracle/Accesses";
    /** The types of elements, in the order of the instructions {@code iaload} to {@code saload}. */
    private static final Type[] ELEMENTS = {
        Type.INT_TYPE, Type.LONG_TYPE, Type.FLOAT_TYPE, Type.DOUBLE_TYPE, Type.getType(Object.class),
        Type.BYTE_TYPE, Type.CHAR_TYPE, Type.SHORT_TYPE
    };

    private final String owner;
    private final MethodNode method;
    private final List<String> table;
    private int line = -1;
    /** Whether the constructor has not yet called another one on its own object. */
    private boolean isBefore;
    /** The objects that are allocated, and whose constructors have not been called. */
    private int unconstructed;

    CountedMethod(String owner, MethodNode method, List<String> table) {
        this.owner = owner;
        this.method = method;
        this.table = table;
        isBefore = method.name.equals("<init>");
    }

    void count() {
        for (AbstractInsnNode instruction : method.instructions.toArray()) {
            if (instruction instanceof LineNumberNode number) {
                line = number.line;
            } else if (instruction instanceof FieldInsnNode field) {
                countField(field);
            } else if (instruction instanceof MethodInsnNode call && call.name.equals("<init>")) {
                isBefore &= unconstructed > 0;
                unconstructed = Math.max(0, unconstructed - 1);
            } else {
                count(instruction, instruction.getOpcode());
            }
        }
    }

    private void count(AbstractInsnNode instruction, int opcode) {
        if (opcode >= Opcodes.IALOAD && opcode <= Opcodes.SALOAD) {
            InsnList code = new InsnList();
            code.add(new InsnNode(Opcodes.DUP2));
            call(code, site("array-read", "[]"), "element", "(Ljava/lang/Object;II)V");
            method.instructions.insertBefore(instruction, code);
        } else if (opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE) {
            Type type = ELEMENTS[opcode - Opcodes.IASTORE];
            InsnList code = new InsnList();
            code.add(new VarInsnNode(type.getOpcode(Opcodes.ISTORE), method.maxLocals));
            code.add(new InsnNode(Opcodes.DUP2));
            call(code, site("array-write", "[]"), "element", "(Ljava/lang/Object;II)V");
            code.add(new VarInsnNode(type.getOpcode(Opcodes.ILOAD), method.maxLocals));
            method.instructions.insertBefore(instruction, code);
        } else if (opcode == Opcodes.NEW) {
            unconstructed++;
            InsnList code = new InsnList();
            int site = site("new", ((TypeInsnNode) instruction).desc.replace('/', '.'));
            call(code, site, "count", "(I)V");
            // The label in front of the instruction belongs to its stack map frames.
            method.instructions.insert(instruction, code);
        } else if (opcode == Opcodes.NEWARRAY || opcode == Opcodes.ANEWARRAY || opcode == Opcodes.MULTIANEWARRAY) {
            InsnList code = new InsnList();
            code.add(new InsnNode(Opcodes.DUP));
            int site = site(opcode == Opcodes.MULTIANEWARRAY ? "new-nested" : "new-array", "[]");
            String name = opcode == Opcodes.MULTIANEWARRAY ? "nested" : "array";
            call(code, site, name, "(Ljava/lang/Object;I)V");
            method.instructions.insert(instruction, code);
        }
    }

    private void countField(FieldInsnNode field) {
        boolean isWrite = field.getOpcode() == Opcodes.PUTFIELD || field.getOpcode() == Opcodes.PUTSTATIC;
        boolean isStatic = field.getOpcode() == Opcodes.GETSTATIC || field.getOpcode() == Opcodes.PUTSTATIC;
        String kind = (isStatic ? "static-" : "") + (isWrite ? "write" : "read");
        int site = site(kind, field.owner.replace('/', '.') + "." + field.name);
        InsnList code = new InsnList();
        if (isStatic || isBefore) {
            // Before the call of another constructor, the object cannot be passed to a method.
            call(code, site, "count", "(I)V");
        } else if (isWrite) {
            Type type = Type.getType(field.desc);
            code.add(new VarInsnNode(type.getOpcode(Opcodes.ISTORE), method.maxLocals));
            code.add(new InsnNode(Opcodes.DUP));
            call(code, site, "field", "(Ljava/lang/Object;I)V");
            code.add(new VarInsnNode(type.getOpcode(Opcodes.ILOAD), method.maxLocals));
        } else {
            code.add(new InsnNode(Opcodes.DUP));
            call(code, site, "field", "(Ljava/lang/Object;I)V");
        }
        method.instructions.insertBefore(field, code);
    }

    /** Adds an instruction to the table. Returns its number. */
    private int site(String kind, String accessed) {
        String place = isBefore ? "before" : "after";
        table.add(String.join("\t", kind, owner, method.name + method.desc, Integer.toString(line), accessed, place));
        return table.size() - 1;
    }

    private static void call(InsnList code, int site, String name, String descriptor) {
        code.add(new LdcInsnNode(site));
        code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, ORACLE, name, descriptor, false));
    }
}
