package kinds;

/** Native methods that call methods of the program back (`tests/native/call_back.c`). */
public class Natives {
    private int calls;

    public static void main(String[] args) {
        System.load(args[0]);
        long sum = 0;
        for (int i = 0; i < 3; i++) {
            sum += callStatic(10 + i);
        }
        Natives object = new Natives();
        object.callVirtual(20);
        Natives other = new Other();
        other.callVirtual(8);
        System.out.println(sum + object.calls + other.calls);
    }

    /** Calls {@code called} n times. */
    static native int callStatic(int n);

    /** Calls {@code note} n times on this object. */
    native void callVirtual(int n);

    static int called(int n) {
        return n + nested();
    }

    static int nested() {
        return 1;
    }

    void note() {
        calls++;
    }

    void add(int n) {
        calls += n;
    }

    /** Overrides the method that the native code calls. */
    static class Other extends Natives {
        @Override
        void note() {
            super.note();
            add(2);
        }
    }
}
