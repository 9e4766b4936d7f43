//! Methods that query their caller: `MethodHandles.lookup()`, `Class.forName`, `StackWalker`, and
//! reflection over the own members. Moved code must still see this class, and no added members.

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;

public class Lookup { // blocks 1
    private int secret = 41;

    private static int hidden(int n) { // entries 3; exits 3
        return n * 2; // blocks 3
    }

    static String own() throws Throwable { // entries 1; exits 1
        String s = ""; // blocks 1
        for (int i = 0; i < 3; i++) { // blocks 4
            MethodHandles.Lookup lookup = MethodHandles.lookup(); // blocks 3
            MethodHandle handle = lookup.findStatic(Lookup.class, "hidden", MethodType.methodType(int.class, int.class));
            s += lookup.lookupClass().getName() + (int) handle.invokeExact(i);
        }
        return s; // blocks 1
    }

    static String byName(String name) { // entries 3; exits 3; timer 3
        try {
            return Class.forName(name).getSimpleName(); // blocks 3
        } catch (ClassNotFoundException e) { // blocks 1
            return "no " + e.getMessage();
        }
    }

    static class Callee {
        static Class<?> caller() { // entries 2; exits 2
            return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).getCallerClass(); // blocks 2
        }
    }

    static String walker(int n) { // entries 1; exits 1; timer 1
        String s = ""; // blocks 1
        while (n-- > 0) { // blocks 3
            s += Callee.caller().getName(); // blocks 2
        }
        return s; // blocks 1
    }

    static int reflected() throws ReflectiveOperationException { // entries 1; exits 1
        Field field = Lookup.class.getDeclaredField("secret"); // blocks 1
        Lookup object = new Lookup();
        field.setInt(object, field.getInt(object) + 1);
        return object.secret;
    }

    static int members() { // entries 1; exits 1
        return Lookup.class.getDeclaredMethods().length * 10 + Lookup.class.getDeclaredFields().length; // blocks 1
    }

    public static void main(String[] args) throws Throwable { // entries 1; exits 1
        String a = own(); // blocks 1
        String b = byName("Lookup$Callee") + " " + byName("no.Such") + " " + byName("java.lang.String");
        String c = walker(2);
        int d = reflected();
        int e = members();
        System.out.println(a + " " + b + " " + c + " " + d + " " + e);
    }
}
