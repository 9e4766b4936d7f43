import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LocalVariableNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.VarInsnNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.BasicInterpreter;
import org.objectweb.asm.tree.analysis.BasicValue;
import org.objectweb.asm.tree.analysis.Frame;

/**
 * The literal executor: {@code Literal FROM TO} rewrites the class files of a folder. Each method
 * with a jump then has the form that the paper of 2003 describes: an executor loop over fragments
 * and a table of edges.
 *
 * <pre>
 *   int next = edges[0];
 *   while (true) switch (next) {          // the executor
 *       case 0: … fragment …; next = edges[k]; continue;
 *       case 1: … if (c) next = edges[k + 1]; else next = edges[k + 2]; continue;
 *   }
 * </pre>
 *
 * <p>The table is a static field that is not final, because edges can be redirected. A fragment is
 * a basic block. Jumps with operands on the stack stay jumps. Methods with exception handlers or
 * switches, and methods compiled without tables of variables, are not changed.
 */
public final class Literal {
    private Literal() {}

    public static void main(String[] args) throws Exception {
        Path from = Path.of(args[0]), to = Path.of(args[1]);
        int all = 0, changed = 0;
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                ClassNode node = new ClassNode();
                new ClassReader(Files.readAllBytes(file)).accept(node, 0);
                for (MethodNode method : new ArrayList<>(node.methods)) {
                    all++;
                    changed += rewrite(node, method) ? 1 : 0;
                }
                ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES);
                node.accept(writer);
                Path into = to.resolve(from.relativize(file));
                Files.createDirectories(into.getParent());
                Files.write(into, writer.toByteArray());
            }
        }
        System.out.println("literal " + changed + " of " + all);
    }

    /** Returns whether the method was rewritten. */
    private static boolean rewrite(ClassNode owner, MethodNode method) throws Exception {
        if ((owner.access & Opcodes.ACC_INTERFACE) != 0 || !method.tryCatchBlocks.isEmpty() || method.name.startsWith("<")) {
            return false;
        }
        List<AbstractInsnNode> code = List.of(method.instructions.toArray());
        Frame<BasicValue>[] frames = new Analyzer<>(new BasicInterpreter()).analyze(owner.name, method);
        boolean jumps = false;
        for (AbstractInsnNode one : code) {
            int opcode = one.getOpcode();
            if (opcode == Opcodes.TABLESWITCH || opcode == Opcodes.LOOKUPSWITCH || opcode == Opcodes.MONITORENTER) {
                return false;
            }
            jumps |= one instanceof JumpInsnNode;
        }
        if (!jumps || !ownSlots(method, code)) {
            return false;
        }
        // Fragments begin at the entry, at targets of jumps and after jumps, if the operand stack
        // is empty there.
        TreeMap<Integer, Integer> fragments = new TreeMap<>();
        fragments.put(0, 0);
        for (int i = 0; i < code.size(); i++) {
            if (code.get(i) instanceof JumpInsnNode jump) {
                mark(fragments, code.indexOf(jump.label), frames);
                mark(fragments, i + 1, frames);
            }
        }
        int number = 0;
        for (Map.Entry<Integer, Integer> one : fragments.entrySet()) {
            one.setValue(number++);
        }
        emit(owner, method, code, fragments);
        return true;
    }

    private static void mark(TreeMap<Integer, Integer> fragments, int at, Frame<BasicValue>[] frames) {
        if (at < frames.length && frames[at] != null && frames[at].getStackSize() == 0) {
            fragments.put(at, 0);
        }
    }

    /**
     * Gives each variable its own slots, because all fragments are in one executor loop. Returns
     * false if the variables are not known.
     */
    private static boolean ownSlots(MethodNode method, List<AbstractInsnNode> code) {
        int parameters = (method.access & Opcodes.ACC_STATIC) == 0 ? 1 : 0;
        for (Type type : Type.getArgumentTypes(method.desc)) {
            parameters += type.getSize();
        }
        Map<LocalVariableNode, Integer> slots = new HashMap<>();
        int next = parameters;
        List<LocalVariableNode> variables = method.localVariables == null ? List.of() : method.localVariables;
        for (LocalVariableNode variable : variables) {
            if (variable.index >= parameters) {
                slots.put(variable, next);
                next += Type.getType(variable.desc).getSize();
            }
        }
        Map<AbstractInsnNode, Integer> chosen = new HashMap<>();
        // Variables that javac creates have no entry. Each old slot with one type gets one new
        // slot, if the variable always has this type.
        Map<String, Integer> unnamed = new HashMap<>();
        List<Integer> kinds = new ArrayList<>();
        for (int i = 0; i < code.size(); i++) {
            int slot = code.get(i) instanceof VarInsnNode one ? one.var : code.get(i) instanceof IincInsnNode inc ? inc.var : -1;
            if (slot < parameters) {
                continue;
            }
            Integer place = null;
            for (LocalVariableNode variable : variables) {
                // The store that initialises a variable is directly before its range.
                int begin = code.indexOf(variable.start), end = code.indexOf(variable.end);
                if (variable.index == slot && i >= begin - 1 && i < end) {
                    place = slots.get(variable);
                    break;
                }
            }
            if (place == null) {
                int opcode = code.get(i).getOpcode();
                String kind = switch (opcode) {
                    case Opcodes.ILOAD, Opcodes.ISTORE, Opcodes.IINC -> "I";
                    case Opcodes.LLOAD, Opcodes.LSTORE -> "J";
                    case Opcodes.FLOAD, Opcodes.FSTORE -> "F";
                    case Opcodes.DLOAD, Opcodes.DSTORE -> "D";
                    default -> "";
                };
                // The array of a for-each loop, for example, has no known type.
                String array = kind.isEmpty() ? arrayOf(method, code, slot) : null;
                if (kind.isEmpty() && array == null) {
                    return false;
                }
                String type = kind.isEmpty() ? array : kind;
                place = unnamed.get(slot + type);
                if (place == null) {
                    place = next;
                    next += Type.getType(type).getSize();
                    unnamed.put(slot + type, place);
                    variables = new ArrayList<>(variables);
                    LocalVariableNode made = new LocalVariableNode("made" + place, type, null, new LabelNode(), new LabelNode(), place);
                    slots.put(made, place);
                    made.index = -1;
                    variables.add(made);
                }
            }
            chosen.put(code.get(i), place);
        }
        for (Map.Entry<AbstractInsnNode, Integer> one : chosen.entrySet()) {
            if (one.getKey() instanceof VarInsnNode variable) {
                variable.var = one.getValue();
            } else {
                ((IincInsnNode) one.getKey()).var = one.getValue();
            }
        }
        method.localVariables = null;
        InsnList begin = new InsnList();
        for (Map.Entry<LocalVariableNode, Integer> one : slots.entrySet()) {
            switch (Type.getType(one.getKey().desc).getSort()) {
                case Type.LONG -> store(begin, Opcodes.LCONST_0, Opcodes.LSTORE, one.getValue());
                case Type.DOUBLE -> store(begin, Opcodes.DCONST_0, Opcodes.DSTORE, one.getValue());
                case Type.FLOAT -> store(begin, Opcodes.FCONST_0, Opcodes.FSTORE, one.getValue());
                case Type.OBJECT, Type.ARRAY -> store(begin, Opcodes.ACONST_NULL, Opcodes.ASTORE, one.getValue());
                default -> store(begin, Opcodes.ICONST_0, Opcodes.ISTORE, one.getValue());
            }
        }
        method.maxLocals = next;
        prologue = begin;
        return true;
    }

    private static InsnList prologue;

    private static void store(InsnList list, int constant, int opcode, int slot) {
        list.add(new InsnNode(constant));
        list.add(new VarInsnNode(opcode, slot));
    }

    /** Returns a type for an unnamed reference variable. Any type of the right size is sufficient. */
    private static String arrayOf(MethodNode method, List<AbstractInsnNode> code, int slot) {
        return "Ljava/lang/Object;";
    }

    private static void emit(ClassNode owner, MethodNode method, List<AbstractInsnNode> code, TreeMap<Integer, Integer> fragments) {
        String table = "edges$" + owner.methods.indexOf(method);
        int next = method.maxLocals++;
        List<Integer> edges = new ArrayList<>();
        LabelNode executor = new LabelNode();
        LabelNode[] cases = new LabelNode[fragments.size()];
        for (int i = 0; i < cases.length; i++) {
            cases[i] = new LabelNode();
        }
        InsnList out = new InsnList();
        out.add(prologue);
        edge(out, owner, table, next, edges, 0, executor);
        out.add(executor);
        LabelNode never = new LabelNode();
        out.add(new VarInsnNode(Opcodes.ILOAD, next));
        out.add(new TableSwitchInsnNode(0, cases.length - 1, never, cases));
        out.add(never);
        out.add(new InsnNode(Opcodes.ACONST_NULL));
        out.add(new InsnNode(Opcodes.ATHROW));
        boolean falls = false;
        for (int i = 0; i < code.size(); i++) {
            Integer fragment = fragments.get(i);
            if (fragment != null) {
                if (falls) {
                    edge(out, owner, table, next, edges, fragment, executor);
                }
                out.add(cases[fragment]);
            }
            AbstractInsnNode one = code.get(i);
            falls = true;
            if (one instanceof FrameNode) {
                continue;
            }
            if (one instanceof JumpInsnNode jump && fragments.containsKey(code.indexOf(jump.label))) {
                int target = fragments.get(code.indexOf(jump.label));
                if (jump.getOpcode() == Opcodes.GOTO) {
                    edge(out, owner, table, next, edges, target, executor);
                    falls = false;
                } else {
                    LabelNode other = new LabelNode(), taken = new LabelNode();
                    out.add(new JumpInsnNode(jump.getOpcode(), taken));
                    out.add(new JumpInsnNode(Opcodes.GOTO, other));
                    out.add(taken);
                    edge(out, owner, table, next, edges, target, executor);
                    out.add(other);
                }
                continue;
            }
            method.instructions.remove(one);
            out.add(one);
            int opcode = one.getOpcode();
            falls = opcode != Opcodes.GOTO && opcode != Opcodes.ATHROW && (opcode < Opcodes.IRETURN || opcode > Opcodes.RETURN);
        }
        method.instructions = out;
        owner.fields.add(new FieldNode(Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE, table, "[I", null, null));
        initialise(owner, table, edges);
    }

    /** Emits an edge: {@code next = edges[number]; continue}. */
    private static void edge(InsnList out, ClassNode owner, String table, int next, List<Integer> edges, int target, LabelNode executor) {
        out.add(new FieldInsnNode(Opcodes.GETSTATIC, owner.name, table, "[I"));
        out.add(constant(edges.size()));
        out.add(new InsnNode(Opcodes.IALOAD));
        out.add(new VarInsnNode(Opcodes.ISTORE, next));
        if (!edges.isEmpty()) {
            out.add(new JumpInsnNode(Opcodes.GOTO, executor));
        }
        edges.add(target);
    }

    private static AbstractInsnNode constant(int value) {
        return value <= Byte.MAX_VALUE ? new IntInsnNode(Opcodes.BIPUSH, value) : new LdcInsnNode(value);
    }

    /** Fills the table at the beginning of the static initialiser. */
    private static void initialise(ClassNode owner, String table, List<Integer> edges) {
        MethodNode initialiser = owner.methods.stream().filter(m -> m.name.equals("<clinit>")).findFirst().orElse(null);
        if (initialiser == null) {
            initialiser = new MethodNode(Opcodes.ACC_STATIC, "<clinit>", "()V", null, null);
            initialiser.instructions.add(new InsnNode(Opcodes.RETURN));
            owner.methods.add(initialiser);
        }
        InsnList fill = new InsnList();
        fill.add(constant(edges.size()));
        fill.add(new IntInsnNode(Opcodes.NEWARRAY, Opcodes.T_INT));
        for (int i = 0; i < edges.size(); i++) {
            fill.add(new InsnNode(Opcodes.DUP));
            fill.add(constant(i));
            fill.add(constant(edges.get(i)));
            fill.add(new InsnNode(Opcodes.IASTORE));
        }
        fill.add(new FieldInsnNode(Opcodes.PUTSTATIC, owner.name, table, "[I"));
        initialiser.instructions.insert(fill);
    }
}
