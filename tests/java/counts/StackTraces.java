//! Stack traces: the lines of exceptions thrown in loops, handlers, callees, constructors, lambdas, `finally`;
//! printed whole, so that a wrong line or an extra frame shows. The number of JDK frames varies by version.
//! loose: show

import java.util.function.IntSupplier;

public class StackTraces {
    static int thrower(int n) { // entries 5; exits 5; timer 5
        if (n == 3) { // blocks 5
            throw new IllegalArgumentException( // blocks 1
                "three");
        }
        return 10 // blocks 4
            / (n - 1);
    }

    static int loop(int n) { // entries 2; exits 2; timer 2
        int s = 0; // blocks 2
        for (int i = n; i < n + 5; i++) { // blocks 5
            s += i; // blocks 5
            s += thrower(i);
        }
        return s; // blocks 0
    }

    static int handler(int[] numbers, int i) { // entries 2; exits 2; timer 2
        try {
            return numbers[i]; // blocks 2
        } catch (ArrayIndexOutOfBoundsException e) { // blocks 1
            String text = e.getMessage();
            return Integer.parseInt("x" + text.length());
        }
    }

    static int last(Object o) { // entries 1; exits 1
        try {
            return o.hashCode(); // blocks 1
        } finally {
            cast(o); // blocks 0
        }
    }

    static Integer cast(Object o) { // entries 1; exits 1
        Object copy = o; // blocks 1
        return
            (Integer) copy;
    }

    static int lambda(int n) { // entries 1; exits 1
        IntSupplier s = () -> { // blocks 1
            int zero = n - n; // blocks 1
            return n
                % zero;
        };
        return s.getAsInt();
    }

    static class Made {
        final int[] data;

        Made(int n) { // blocks 1
            int doubled = n * 2;
            data = new int[doubled];
        }
    }

    static void show(IntSupplier code) {
        try {
            System.out.println("value " + code.getAsInt());
        } catch (RuntimeException | Error e) {
            System.out.println(e);
            for (StackTraceElement frame : e.getStackTrace()) {
                System.out.println("  " + frame.getMethodName() + " " + frame.getFileName() + ":" + frame.getLineNumber());
                if (frame.getMethodName().equals("show")) {
                    break; // the exception did not pass main: its frame shows where main was left for its version
                }
            }
        }
    }

    public static void main(String[] args) { // entries 1; exits 1
        show(() -> { // blocks 1
            return loop(2); // blocks 1
        });
        show(() -> {
            return loop(-1); // blocks 1
        });
        show(() -> {
            return handler(new int[2], 5); // blocks 1
        });
        show(() -> {
            return last("text"); // blocks 1
        });
        show(() -> {
            return lambda(8); // blocks 1
        });
        show(() -> {
            return new Made(-4).data.length; // blocks 1
        });
        show(() -> {
            return handler(new int[] {7, 8}, 1); // blocks 1
        });
    }
}
