import java.lang.reflect.Method;
import javassist.ClassPool;
import javassist.CtClass;
import javassist.CtMethod;
import javassist.CtNewMethod;
import org.apache.bcel.Const;
import org.apache.bcel.generic.ClassGen;
import org.apache.bcel.generic.ConstantPoolGen;
import org.apache.bcel.generic.InstructionConst;
import org.apache.bcel.generic.InstructionHandle;
import org.apache.bcel.generic.InstructionList;
import org.apache.bcel.generic.JSR;
import org.apache.bcel.generic.MethodGen;
import org.apache.bcel.generic.ASTORE;
import org.apache.bcel.generic.GOTO;
import org.apache.bcel.generic.ILOAD;
import org.apache.bcel.generic.ISTORE;
import org.apache.bcel.generic.IINC;
import org.apache.bcel.generic.IFLE;
import org.apache.bcel.generic.PUSH;
import org.apache.bcel.generic.RET;
import org.apache.bcel.generic.Type;

/**
 * Class files of versions 45 to 50 that BCEL (with subroutines) and Javassist generate, loaded and
 * run.
 */
public class Written {
    static final class Loader extends ClassLoader {
        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** `sum(n)`: a loop whose body calls a subroutine that adds the counter to a sum. */
    static byte[] bySubroutine(String name, int version) {
        ClassGen type = new ClassGen(name, "java.lang.Object", "<generated>", Const.ACC_PUBLIC | Const.ACC_SUPER, null);
        type.setMajor(version);
        type.setMinor(version == 45 ? 3 : 0);
        ConstantPoolGen pool = type.getConstantPool();
        InstructionList code = new InstructionList();
        code.append(new PUSH(pool, 0));
        code.append(new ISTORE(1));
        InstructionHandle top = code.append(new ILOAD(0));
        IFLE leave = new IFLE(null);
        code.append(leave);
        JSR call = new JSR(null);
        code.append(call);
        code.append(new IINC(0, -1));
        code.append(new GOTO(top));
        InstructionHandle end = code.append(new ILOAD(1));
        code.append(InstructionConst.IRETURN);
        InstructionHandle routine = code.append(new ASTORE(2));
        code.append(new ILOAD(1));
        code.append(new ILOAD(0));
        code.append(InstructionConst.IADD);
        code.append(new ISTORE(1));
        code.append(new RET(2));
        leave.setTarget(end);
        call.setTarget(routine);
        MethodGen method = new MethodGen(Const.ACC_PUBLIC | Const.ACC_STATIC, Type.INT, new Type[] {Type.INT}, new String[] {"n"}, "sum", name, code, pool);
        method.setMaxStack();
        method.setMaxLocals();
        type.addMethod(method.getMethod());
        return type.getJavaClass().getBytes();
    }

    /** Loops, handlers and `switch` by Javassist's compiler, with frames only from version 50. */
    static byte[] bySource(String name, int version) throws Exception {
        CtClass type = new ClassPool(true).makeClass(name);
        type.getClassFile().setMajorVersion(version);
        type.addMethod(CtNewMethod.make("public static int sum(int n) { int s = 0; for (int i = 1; i <= n; i++) { s += kind(i); } return s; }", declared(type)));
        byte[] bytes = type.toBytecode();
        type.detach();
        return bytes;
    }

    private static CtClass declared(CtClass type) throws Exception {
        CtMethod kind = CtNewMethod.make(
            "static int kind(int i) { Object o = i % 2 == 0 ? (Object) \"even\" : (Object) new StringBuffer(\"odd\");"
                + " try { if (i % 5 == 0) { throw new IllegalStateException(o.toString()); }"
                + " switch (i % 4) { case 0: return i; case 1: return -i; case 3: return o.toString().length(); default: return 2 * i; } }"
                + " catch (IllegalStateException e) { return e.getMessage().length() * 100; } finally { i++; } }",
            type);
        type.addMethod(kind);
        return type;
    }

    public static void main(String[] arguments) throws Exception {
        for (int version = 45; version <= 50; version++) {
            for (int round = 0; round < 40; round++) {
                Loader loader = new Loader();
                long sum = 0;
                for (boolean bcel : new boolean[] {true, false}) {
                    String name = (bcel ? "written.Bcel" : "written.Javassist") + version;
                    byte[] bytes = bcel ? bySubroutine(name, version) : bySource(name, version);
                    Method method = loader.define(name, bytes).getMethod("sum", int.class);
                    for (int i = 0; i < 50; i++) {
                        sum = sum * 31 + (int) method.invoke(null, i);
                    }
                }
                if (round == 39) {
                    System.out.println("version " + version + " " + sum);
                }
            }
        }
    }
}
