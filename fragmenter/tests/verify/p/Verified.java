package p;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import q.Base;

/** Contains code for every rule of a verifier. */
public class Verified extends Base implements Cloneable, Runnable {
    private final String name;
    private double weight;
    private Verified next;

    static class Below extends Verified {
        Below() {
            super("below", 3);
        }

        @Override
        protected int guarded(int n) {
            return super.guarded(n) + n;
        }
    }

    static class Beside extends Base {
        int twice() {
            return guarded(1) + open(1);
        }
    }

    interface Shape {
        double area();

        default double twice() {
            return 2 * area();
        }

        static Shape square(double side) {
            return () -> side * side;
        }
    }

    record Circle(double radius) implements Shape {
        @Override
        public double area() {
            return Math.PI * radius * radius;
        }
    }

    Verified(String name, int field) {
        super(name == null ? field : field + name.length());
        this.name = name;
        weight = field / 2.0;
    }

    Verified(long seed) {
        this(Long.toString(seed), (int) (seed >>> 3));
        try {
            next = new Verified("next", 1);
        } catch (IllegalStateException | NumberFormatException e) {
            next = null;
        }
    }

    @Override
    public void run() {
        field += guarded(3) + next.guarded(4);
        wide *= field;
        next.wide = wide;
    }

    Verified copy() throws CloneNotSupportedException {
        Verified copy = (Verified) clone();
        int[] numbers = {1, 2, 3};
        copy.field = numbers.clone().length;
        return copy;
    }

    static Verified either(boolean b) {
        Verified found = b ? new Below() : new Verified(9L);
        found.field = found.guarded(found.field);
        return found;
    }

    static int guarded(Verified of, Below other, boolean b) {
        Verified one = of;
        if (b) {
            one = other;
        }
        return one.guarded(2) + one.field;
    }

    static long sums(int[] ints, long[] longs, float[] floats, double[] doubles, byte[] bytes, boolean[] flags) {
        long sum = 0;
        for (int i = 0; i < ints.length; i++) {
            sum += ints[i] + longs[i];
            floats[i] = (float) doubles[i] * 2;
            bytes[i] += (byte) floats[i];
            flags[i] ^= doubles[i] > 1;
            longs[i] <<= 2;
        }
        char[] chars = new char[3];
        short[][] shorts = new short[2][3];
        chars[0]++;
        shorts[1][2] = (short) chars[0];
        return sum + shorts[1].length;
    }

    static Object mixed(Object o, int n) {
        Object[][] grid = new Object[n][];
        grid[0] = new String[] {"a"};
        grid[1] = new Object[] {o, null};
        Object found = null;
        for (Object[] row : grid) {
            for (Object each : row) {
                if (each instanceof String s && s.length() > n) {
                    found = s;
                } else if (each instanceof int[]) {
                    found = ((int[]) each).clone();
                } else {
                    found = each;
                }
            }
        }
        return found;
    }

    static String branches(int n, String s) {
        switch (n) {
            case 1:
                s += "one";
            case 2:
                return s;
            case 1000:
                s = s.trim();
                break;
            default:
                s = switch (s) {
                    case "a", "b" -> "ab";
                    case "c" -> "" + n;
                    default -> n > 5 ? s : null;
                };
        }
        return s;
    }

    static int guardedBlock(Object lock, List<? extends Number> list) {
        int sum = 0;
        synchronized (lock) {
            for (Number n : list) {
                try {
                    sum += 100 / n.intValue();
                } catch (ArithmeticException e) {
                    sum -= e.getMessage().length();
                    continue;
                } finally {
                    sum++;
                }
                while (sum > 50) {
                    sum -= 7;
                }
            }
        }
        return sum;
    }

    static double wideValues(double a, long b, float c, int d) {
        double r = 0;
        long s = b;
        do {
            r += a * d-- - c;
            s ^= (long) r;
            r = s > b ? r : -r;
        } while (d > 0);
        return r + s;
    }

    Supplier<Map<String, List<Shape>>> lambdas(int n) {
        IntFunction<Shape> circle = Circle::new;
        return () -> {
            Map<String, List<Shape>> map = new TreeMap<>();
            for (int i = 0; i < n; i++) {
                map.computeIfAbsent(name + i, k -> new ArrayList<>()).add(i % 2 == 0 ? circle.apply(i) : Shape.square(i));
            }
            return map;
        };
    }

    static RuntimeException thrown(Throwable t) throws Exception {
        if (t instanceof Error e) {
            throw e;
        }
        Exception cause = t instanceof Exception x ? x : new IllegalStateException(t);
        if (cause instanceof RuntimeException r) {
            return r;
        }
        throw cause;
    }
}
