package kinds;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntBinaryOperator;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;

/** Lambdas with and without captured variables, method references, and streams. */
public class Lambdas {
    private final int base;

    Lambdas(int base) {
        this.base = base;
    }

    public static void main(String[] args) {
        IntBinaryOperator add = (a, b) -> plus(a, b);
        IntBinaryOperator reference = Lambdas::plus;
        long sum = 0;
        for (int i = 0; i < 9; i++) {
            sum += add.applyAsInt(i, 1) + reference.applyAsInt(i, 2);
        }
        Lambdas object = new Lambdas(4);
        IntSupplier captured = () -> object.value() + 1;
        IntSupplier bound = object::value;
        sum += captured.getAsInt() + bound.getAsInt() + object.supplier().getAsInt();
        sum += IntStream.range(0, 50).filter(Lambdas::isWanted).map(n -> plus(n, 1)).sum();
        List<Integer> numbers = new ArrayList<>(List.of(5, 3, 9, 1));
        numbers.removeIf(n -> isWanted(n));
        numbers.forEach(object::note);
        System.out.println(sum + numbers.size() + ("text" + plus(1, 2)).length());
    }

    static int plus(int a, int b) {
        return a + b;
    }

    static boolean isWanted(int n) {
        return n % 3 == 0;
    }

    int value() {
        return base;
    }

    IntSupplier supplier() {
        return () -> value() + base;
    }

    void note(int n) {
        plus(n, base);
    }
}
