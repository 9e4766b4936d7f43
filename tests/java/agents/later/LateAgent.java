import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A program that is its own agent. On request it puts a call into the loop of the class Work. Its
 * transformer is added only then, so the JVM calls it after the hooks of all agents that have started
 * before.
 */
public class LateAgent {
    static Instrumentation instrumentation;
    static long ticks;

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    /** The call in the loop. */
    public static void tick() {
        ticks++;
    }

    /** Puts the call behind each increment of a variable in Work.loop. */
    static final class AddTicks implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> redefined,
                ProtectionDomain domain, byte[] file) {
            if (!"Work".equals(name)) {
                return null;
            }
            ClassReader reader = new ClassReader(file);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
                @Override
                public MethodVisitor visitMethod(int access, String method, String descriptor,
                        String signature, String[] exceptions) {
                    MethodVisitor to =
                            super.visitMethod(access, method, descriptor, signature, exceptions);
                    return !method.equals("loop") ? to : new MethodVisitor(Opcodes.ASM9, to) {
                        @Override
                        public void visitIincInsn(int variable, int increment) {
                            super.visitIincInsn(variable, increment);
                            super.visitMethodInsn(
                                    Opcodes.INVOKESTATIC, "LateAgent", "tick", "()V", false);
                        }
                    };
                }
            }, 0);
            return writer.toByteArray();
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            switch (line) {
                case "work" -> {
                    ticks = 0;
                    long sum = 0;
                    for (int i = 0; i < 100; i++) {
                        sum += Work.loop(12);
                    }
                    System.out.println("worked " + sum + " ticks " + ticks);
                }
                case "add" -> {
                    instrumentation.addTransformer(new AddTicks(), true);
                    System.out.println("added");
                }
                case "change" -> {
                    instrumentation.addTransformer(new AddTicks(), true);
                    instrumentation.retransformClasses(Work.class);
                    System.out.println("changed");
                }
                default -> {
                    return;
                }
            }
        }
    }
}

/** The class that the agent changes. It is loaded by the first line `work` or `change`. */
class Work {
    static int loop(int turns) {
        int sum = 0;
        for (int i = 0; i < turns; i++) {
            sum += i;
        }
        return sum;
    }
}
