package base;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * `Runner LIST BLOCKS MILLIS`: runs every method of the classes that the file LIST names, with
 * several arguments each, and prints a line for each method. A line of LIST is the name of a class,
 * and `unsafe-null-messages` if the class has a method whose null-pointer messages can crash the JVM. Then it repeats this for MILLIS
 * milliseconds and prints every difference from the first round. At the end, the file BLOCKS gets
 * a line `class block count` for each executed block.
 */
public class Runner {
    /** The rest of the fuel of a call. Each back edge and each call takes some. */
    public static int fuel;

    static final int FUEL = 300;
    static final int ARGUMENTS = 5;
    /** Maximum number of blocks in a class. The number of lines is 16 times as high. */
    static final int BLOCKS = 4096;
    static final Object[] LOCKS = {new Object(), new Object(), new Object(), "lock", 7};

    /** The running hash of all events in one call. */
    static long events;
    /** Whether messages and stack traces of exceptions are compared, or only their classes. */
    static final boolean TRACES = !Boolean.getBoolean("untraced");
    /** The classes with a method whose null-pointer messages can crash the JVM. */
    static final Set<String> UNSAFE_NULL_MESSAGES = new HashSet<>();
    /** Whether the events are printed. */
    static final boolean TRACE = Boolean.getBoolean("trace");

    static void add(long value, String what) {
        events = events * 31 + value;
        if (TRACE) {
            System.out.println("    " + what + " " + value);
        }
    }

    public static void note(int value) {
        add(value, "note");
    }

    public static void fold(long sum) {
        add(sum, "sum");
    }

    public static void passed(Throwable thrown) {
        add(text(thrown).hashCode(), TRACE ? "passed " + text(thrown) : "");
    }

    /**
     * Records an exception that a handler has caught and does not rethrow. Its stack is recorded
     * down to the handler's method.
     */
    public static void caught(Throwable thrown) {
        int below = new Throwable().getStackTrace().length - 2;
        String text = text(thrown) + trace(thrown, below);
        add(text.hashCode(), TRACE ? "caught " + text : "");
    }

    /** Returns a number for an object that does not depend on its identity. */
    public static long ref(Object object) {
        if (object == null) {
            return 17;
        } else if (object instanceof String || object instanceof Integer) {
            return object.hashCode();
        } else if (object instanceof int[] ints) {
            return Arrays.hashCode(ints);
        } else if (object instanceof long[] longs) {
            return Arrays.hashCode(longs);
        } else if (object instanceof Object[] objects) {
            return 1000 + objects.length;
        } else if (object instanceof Base base) {
            return 5000 + base.inherited;
        } else if (object instanceof Class<?> type) {
            return type.getName().hashCode();
        } else if (object instanceof java.lang.invoke.MethodType type) {
            return type.toString().hashCode();
        }
        for (int i = 0; i < LOCKS.length; i++) {
            if (LOCKS[i] == object) {
                return 100 + i;
            }
        }
        return 3;
    }

    /** Returns a lock, sometimes null. */
    public static Object lock(int number) {
        int place = (number & 0x7fffffff) % (LOCKS.length * 4);
        return place == 13 ? null : LOCKS[place % LOCKS.length];
    }

    public static String cut(String text) {
        return text.length() > 40 ? text.substring(0, 40) : text;
    }

    /** Throws an exception for some numbers. */
    public static void trouble(int number) {
        switch ((number & 0x7fffffff) % 37) {
            case 3 -> throw new IllegalStateException("trouble " + number);
            case 5 -> throw new ArithmeticException("trouble " + number);
            case 7 -> throw new IndexOutOfBoundsException(number);
            case 9 -> throw new Error("trouble " + number);
            default -> { }
        }
    }

    /**
     * Class and message. HotSpot's description of a null pointer is left out: if the value was
     * merged on the operand stack at a branch, the description is wrong or truncated in any
     * program, and it depends on the layout of the code.
     */
    static String text(Throwable thrown) {
        String message = hasSafeMessage(thrown) ? thrown.getMessage() : "not read";
        if (thrown instanceof NullPointerException && message != null) {
            message = message.split(" because ")[0];
        }
        return thrown.getClass().getName() + (TRACES ? ": " + message : "");
    }

    /**
     * Whether the message of an exception can be read. `NullPointerException.getMessage` makes
     * HotSpot analyse the code of the method that threw the exception. For some methods, the analysis
     * reads and writes outside its stacks, and the JVM crashes. This is a fault of HotSpot that shows
     * in the plain program too (`docs/faults.md`).
     */
    static boolean hasSafeMessage(Throwable thrown) {
        if (!(thrown instanceof NullPointerException)) {
            return true;
        }
        StackTraceElement[] frames = thrown.getStackTrace();
        return frames.length > 0 && !UNSAFE_NULL_MESSAGES.contains(frames[0].getClassName());
    }

    /** The frames of generated methods above the last `below` frames. */
    static String trace(Throwable thrown, int below) {
        if (!TRACES) {
            return "";
        }
        StackTraceElement[] frames = thrown.getStackTrace();
        StringBuilder text = new StringBuilder(frames.length == 0 ? " no trace" : "");
        for (int i = 0; i < frames.length - below; i++) {
            if (frames[i].getClassName().startsWith("r.")) {
                text.append(' ').append(frames[i].getMethodName()).append(':').append(frames[i].getLineNumber());
            }
        }
        return text.toString();
    }

    static final int[] INTS = {0, 3, -1, 1_000_003, Integer.MIN_VALUE};

    static Object argument(Class<?> type, int number, Object self) {
        int value = INTS[number % INTS.length];
        if (type == int.class) {
            return value;
        } else if (type == long.class) {
            return value * 0x1_0000_0003L;
        } else if (type == float.class) {
            return number == 2 ? Float.NaN : value / 3f;
        } else if (type == double.class) {
            return number == 3 ? Double.POSITIVE_INFINITY : value / 7d;
        } else if (number == 4) {
            return null;
        } else if (type == String.class || type == CharSequence.class) {
            return "text" + value;
        } else if (type == int[].class) {
            return new int[] {value, 1, 2, 3};
        } else if (type == long[].class) {
            return new long[] {value, 5, -5};
        } else if (type == Object[].class) {
            return new Object[] {"a", value, null, self};
        } else if (type == Object.class) {
            return number % 2 == 0 ? (Object) value : "object";
        }
        return self;
    }

    static Object[] arguments(Executable method, int number, Object self) {
        Class<?>[] types = method.getParameterTypes();
        Object[] values = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            values[i] = argument(types[i], number + i * (number & 1), self);
        }
        return values;
    }

    /** One generated class, with the state that must be restored before each call. */
    static class Unit {
        final Class<?> type;
        final List<Field> fields = new ArrayList<>();
        final List<Method> methods = new ArrayList<>();
        final Constructor<?> constructor;
        final int[] blocks = new int[BLOCKS];

        Unit(String name) throws ReflectiveOperationException {
            type = Class.forName(name);
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals("blocks")) {
                    field.set(null, blocks);
                } else if (Modifier.isStatic(field.getModifiers())) {
                    fields.add(field);
                }
            }
            for (Method method : type.getDeclaredMethods()) {
                method.setAccessible(true);
                methods.add(method);
            }
            methods.sort(Comparator.comparing(Method::getName));
            constructor = type.getDeclaredConstructors()[0];
        }

        void reset() throws ReflectiveOperationException {
            for (Field field : fields) {
                Class<?> type = field.getType();
                field.set(null, argument(type, 1, null));
            }
            fuel = FUEL;
            events = 0;
        }

        /**
         * Calls a method, or the constructor, with each set of arguments, and returns a line with
         * the results.
         */
        String line(Method method) throws ReflectiveOperationException {
            long all = 0;
            int threw = 0;
            for (int number = 0; number < ARGUMENTS; number++) {
                Object self = null;
                long result;
                try {
                    reset();
                    self = constructor.newInstance(arguments(constructor, number, null));
                    result = 1;
                    if (method != null) {
                        Object target = Modifier.isStatic(method.getModifiers()) ? null : self;
                        result = value(method.invoke(target, arguments(method, number, self)));
                    }
                } catch (InvocationTargetException e) {
                    threw++;
                    String text = text(e.getCause()) + trace(e.getCause(), 0);
                    if (TRACE) {
                        System.out.println("    threw " + text);
                    }
                    result = text.hashCode();
                } catch (NullPointerException e) {
                    // If the constructor failed, an instance method cannot be called.
                    result = 2;
                }
                long here = result * 1_000_003 + events * 31 + ref(self);
                if (TRACE) {
                    System.out.println("  #" + number + " result " + result + " events " + events);
                }
                all = all * 1_000_003 + here;
            }
            String name = method == null ? "<init>" : method.getName();
            return type.getName() + "." + name + " " + Long.toHexString(all) + " threw " + threw;
        }
    }

    static long value(Object result) {
        if (result instanceof Long number) {
            return number;
        } else if (result instanceof Float number) {
            return Float.floatToIntBits(number);
        } else if (result instanceof Double number) {
            return Double.doubleToLongBits(number);
        }
        return ref(result);
    }

    static void round(List<Unit> units, List<String> lines) throws ReflectiveOperationException {
        for (Unit unit : units) {
            lines.add(unit.line(null));
            for (Method method : unit.methods) {
                lines.add(unit.line(method));
            }
        }
    }

    public static void main(String[] args) throws ReflectiveOperationException, IOException {
        List<Unit> units = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] words = line.split(" ");
            units.add(new Unit(words[0]));
            if (words.length > 1 && words[1].equals("unsafe-null-messages")) {
                UNSAFE_NULL_MESSAGES.add(words[0]);
            }
        }
        List<String> first = new ArrayList<>();
        round(units, first);
        first.forEach(System.out::println);
        long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000;
        int rounds = 1;
        while (System.nanoTime() < end) {
            List<String> again = new ArrayList<>();
            round(units, again);
            rounds++;
            for (int i = 0; i < first.size(); i++) {
                if (!first.get(i).equals(again.get(i))) {
                    System.out.println("round " + rounds + ": " + again.get(i));
                }
            }
        }
        List<String> counts = new ArrayList<>();
        for (Unit unit : units) {
            for (int block = 0; block < BLOCKS; block++) {
                if (unit.blocks[block] != 0) {
                    counts.add(unit.type.getName() + " " + block + " " + unit.blocks[block]);
                }
            }
        }
        Files.write(Path.of(args[1]), counts);
        System.err.println("rounds " + rounds);
    }
}
