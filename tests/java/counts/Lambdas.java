//! Lambdas and method references: without and with captured variables, nested, recursive through an
//! interface, bound and unbound references, a constructor reference, a generic functional interface.

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

public class Lambdas {
    interface Step {
        int go(Step self, int n);
    }

    final int base;

    Lambdas(int base) { // entries 3; exits 3; blocks 3
        this.base = base;
    }

    int plus(int n) { // entries 6; exits 6
        return base + n; // blocks 6
    }

    static int twice(int n) { // entries 8; exits 8; timer 8
        return n * 2; // blocks 8
    }

    static int apply(IntUnaryOperator f, int times) { // entries 4; exits 4; timer 4
        int s = 1; // blocks 4
        for (int i = 0; i < times; i++) { // blocks 33
            s = f.applyAsInt(s); // blocks 29
        }
        return s; // blocks 4
    }

    IntUnaryOperator capturing(long extra, double factor) { // entries 1; exits 1
        return n -> { // blocks 1
            int r = (int) ((n + extra) * factor); // blocks 5; entries 5; exits 5; timer 5
            return r % 1000 + base;
        };
    }

    static Supplier<Supplier<String>> nested(String a) { // entries 1; exits 1
        return () -> { // blocks 1
            String b = a + "!"; // blocks 1; entries 1; exits 1
            return () -> {
                String c = b + a; // blocks 1; entries 1; exits 1
                return c + c.length();
            };
        };
    }

    static int wide(byte b, short s, char c, boolean z, float f, long l, double d, Object[] o) { // entries 1; exits 1
        IntBinaryOperator op = (x, y) -> { // blocks 1
            long sum = b + s + c + (z ? 1 : 0) + l; // blocks 2 2 0 2
            return (int) (sum + f + d) + x * y + o.length;
        };
        return op.applyAsInt(3, 4) + op.applyAsInt(5, 6);
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = apply(n -> { // blocks 1
            return n + 3; // blocks 10; entries 10; exits 10
        }, 10);
        int b = apply(Lambdas::twice, 8);
        Lambdas object = new Lambdas(7);
        int c = apply(object::plus, 6);
        Function<Integer, Lambdas> make = Lambdas::new;
        int d = make.apply(4).base + make.apply(5).base;
        int e = apply(object.capturing(1L << 33, 0.5), 5);
        String f = nested("x").get().get();
        Step step = (self, n) -> {
            if (n <= 0) { // blocks 6; entries 6; exits 6; timer 6
                return 0; // blocks 1
            }
            return n + self.go(self, n - 2); // blocks 5
        };
        int g = step.go(step, 9);
        int h = wide((byte) -3, (short) 300, 'c', true, 1.5f, 1L << 20, 2.25, new Object[3]);
        List<Integer> list = new ArrayList<>(List.of(5, 3, 9, 1));
        list.replaceAll(x -> {
            return x * x; // blocks 4
        });
        list.removeIf(x -> {
            return x > 50; // blocks 4 1 3 4
        });
        System.out.println(a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + g + " " + h + " " + list);
    }
}
