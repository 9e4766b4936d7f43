/** Calls a protected method of Object on a value that merges objects of two subclasses. */
public class Prot implements Cloneable {
    int v;

    static class A extends Prot {
        A() {
            v = 1;
        }
    }

    static class B extends Prot {
        B() {
            v = 2;
        }
    }

    static Object f(boolean b) throws Exception {
        Prot x;
        if (b) x = new A();
        else x = new B();
        return x.clone();
    }

    public static void main(String[] a) throws Exception {
        System.out.println(f(true).getClass() + " " + f(false).getClass());
    }
}
