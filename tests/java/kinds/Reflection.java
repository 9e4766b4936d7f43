package kinds;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Calls by reflection, by method handles and by a dynamic proxy. */
public class Reflection {
    /** An interface of a proxy. */
    public interface Service {
        int serve(int n);
    }

    public static void main(String[] args) throws Throwable {
        long sum = 0;
        Method method = Reflection.class.getDeclaredMethod("twice", int.class);
        for (int i = 0; i < 40; i++) {
            sum += (Integer) method.invoke(null, i);
        }
        Reflection object = Reflection.class.getDeclaredConstructor().newInstance();
        Method own = Reflection.class.getDeclaredMethod("own");
        for (int i = 0; i < 5; i++) {
            sum += (Integer) own.invoke(object);
        }
        MethodType type = MethodType.methodType(int.class, int.class);
        MethodHandle handle = MethodHandles.lookup().findStatic(Reflection.class, "twice", type);
        for (int i = 0; i < 6; i++) {
            sum += (int) handle.invokeExact(i) + (int) handle.invoke(i);
        }
        InvocationHandler handler = (proxy, called, given) -> twice((Integer) given[0]) + 1;
        Service service = (Service) Proxy.newProxyInstance(
                Reflection.class.getClassLoader(), new Class<?>[] {Service.class}, handler);
        for (int i = 0; i < 7; i++) {
            sum += service.serve(i);
        }
        System.out.println(sum);
    }

    static int twice(int n) {
        return once(n) + once(n);
    }

    static int once(int n) {
        return n;
    }

    private int own() {
        return once(3);
    }
}
