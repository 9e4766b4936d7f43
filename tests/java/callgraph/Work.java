package graph;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Calls of each kind. The numbers of calls do not depend on time. */
class Work {
    static long all() throws Exception {
        long sum = Early.touch(2);
        sum += shapes();
        sum += recursion(9);
        sum += exceptions();
        sum += lambdas();
        sum += reflection();
        sum += threads();
        sum += new Derived(3).total();
        sum += sorted();
        sum += initialisers();
        sum += new ClassWithANameOfMoreThanSixtyFourCharactersSoThatTablesStoreOnlyItsBeginning().one();
        sum += manyOnOneLine();
        return sum;
    }

    /** Receivers of five classes at one virtual and one interface call. */
    static long shapes() {
        Shape[] shapes = {
            new Square(), new Circle(), new Disc(), new Ring(), new Dot(), new Square(),
        };
        long sum = 0;
        for (int round = 0; round < 10; round++) {
            for (Shape shape : shapes) {
                sum += shape.area();
                sum += ((Named) shape).name().length();
                sum += shape.twice();
            }
        }
        return sum;
    }

    static int recursion(int n) {
        return n < 2 ? n : recursion(n - 1) + recursion(n - 2);
    }

    static long exceptions() {
        long caught = 0;
        for (int i = 0; i < 20; i++) {
            try {
                caught += mayThrow(i);
                caught += Early.touch(1);
            } catch (IllegalStateException e) {
                caught += 100;
            }
        }
        Shape none = null;
        try {
            caught += none.area();
        } catch (NullPointerException e) {
            caught += 1000;
        }
        return caught;
    }

    static int mayThrow(int i) {
        if (i % 3 == 0) {
            throw new IllegalStateException();
        }
        return i;
    }

    static long lambdas() {
        int base = 5;
        IntUnaryOperator add = n -> n + base;
        IntUnaryOperator call = Work::plusOne;
        long sum = 0;
        for (int i = 0; i < 7; i++) {
            sum += add.applyAsInt(i) + call.applyAsInt(i);
        }
        List<Integer> numbers = List.of(1, 2, 3);
        numbers.forEach(n -> plusOne(n));
        return sum;
    }

    static int plusOne(int n) {
        return n + 1;
    }

    static long reflection() throws Exception {
        Method method = Work.class.getDeclaredMethod("plusOne", int.class);
        long sum = 0;
        for (int i = 0; i < 30; i++) {
            sum += (Integer) method.invoke(null, i);
        }
        return sum + (Work.class.getDeclaredConstructor().newInstance().own());
    }

    private long own() {
        return 1;
    }

    static long threads() throws Exception {
        long[] sums = new long[4];
        Thread[] all = new Thread[4];
        for (int i = 0; i < all.length; i++) {
            int number = i;
            all[i] = new Thread(() -> sums[number] = counted(number));
            all[i].start();
        }
        long sum = 0;
        for (int i = 0; i < all.length; i++) {
            all[i].join();
            sum += sums[i];
        }
        return sum;
    }

    static long counted(int number) {
        long sum = 0;
        for (int i = 0; i < 1000 * (number + 1); i++) {
            sum += plusOne(i);
        }
        return sum;
    }

    static long sorted() {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            pairs.add(new Pair(i * 5 % 8));
        }
        Collections.sort(pairs);
        Pair least = pairs.get(0);
        return least.compareTo(new Pair(4));
    }

    static long initialisers() {
        long sum = 0;
        for (int i = 0; i < 3; i++) {
            sum += Initialised.value();
        }
        return sum;
    }

    static long manyOnOneLine() {
        return plusOne(plusOne(plusOne(1))) + Early.touch(plusOne(2));
    }
}

interface Named {
    default String name() {
        return getClass().getSimpleName();
    }
}

interface Loud extends Named {
    @Override
    default String name() {
        return Named.super.name() + "!";
    }
}

abstract class Shape implements Named {
    abstract long area();

    long twice() {
        return 2 * area() + secret();
    }

    private long secret() {
        return 1;
    }
}

class Square extends Shape {
    @Override
    long area() {
        return 4;
    }
}

class Circle extends Shape {
    @Override
    long area() {
        return 3;
    }

    @Override
    public String name() {
        return "circle";
    }
}

/** Inherits `area` and `name`. */
class Disc extends Circle {
}

/** Calls the method that it overrides, and inherits `name` from the more specific interface. */
class Ring extends Square implements Loud {
    @Override
    long area() {
        return super.area() - 1;
    }
}

class Dot extends Shape {
    @Override
    long area() {
        return 0;
    }

    @Override
    long twice() {
        return 0;
    }
}

class Base {
    final int size;

    Base(int size) {
        this.size = size;
    }

    long total() {
        return size;
    }
}

class Derived extends Base {
    Derived(int size) {
        this(size, 2);
    }

    Derived(int size, int factor) {
        super(beforeSuper(size) * factor);
    }

    /** Called before `super(…)`. A recording does not contain this call. */
    static int beforeSuper(int size) {
        return size;
    }

    @Override
    long total() {
        return super.total() + new Inner().value();
    }

    class Inner {
        long value() {
            return size;
        }
    }
}

class Pair implements Comparable<Pair> {
    final int key;

    Pair(int key) {
        this.key = key;
    }

    @Override
    public int compareTo(Pair other) {
        return Integer.compare(key, other.key);
    }
}

class Initialised {
    static final long START = inInitialiser();

    /** Called by the static initialiser. A recording does not contain this call. */
    static long inInitialiser() {
        return 7;
    }

    static long value() {
        return START;
    }
}

class ClassWithANameOfMoreThanSixtyFourCharactersSoThatTablesStoreOnlyItsBeginning {
    long one() {
        return 1;
    }
}
