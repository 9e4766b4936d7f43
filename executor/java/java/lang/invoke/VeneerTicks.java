package java.lang.invoke;

import java.lang.reflect.Array;

/** Finds a way to call a function of the agent from compiled code at little cost. */
final class VeneerTicks {
    private VeneerTicks() {}

    /**
     * A handle of type {@code ()long} for the function at an address. Null before JDK 22, because
     * each call would go through JNI. The classes are found by name, because Java 17, for which
     * this file is compiled, lacks them.
     */
    static MethodHandle at(long address) throws ReflectiveOperationException {
        if (Runtime.version().feature() < 22) {
            return null;
        }
        Class<?> linker = Class.forName("java.lang.foreign.Linker");
        Class<?> option = Class.forName("java.lang.foreign.Linker$Option");
        Class<?> descriptor = Class.forName("java.lang.foreign.FunctionDescriptor");
        Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
        Class<?> layout = Class.forName("java.lang.foreign.MemoryLayout");
        Object word = Class.forName("java.lang.foreign.ValueLayout").getField("JAVA_LONG").get(null);
        Object options = Array.newInstance(option, 1);
        Array.set(options, 0, option.getMethod("critical", boolean.class).invoke(null, false));
        Object of = descriptor.getMethod("of", layout, layout.arrayType()).invoke(null, word, Array.newInstance(layout, 0));
        Object at = segment.getMethod("ofAddress", long.class).invoke(null, address);
        Object by = linker.getMethod("nativeLinker").invoke(null);
        return (MethodHandle) linker.getMethod("downcallHandle", segment, descriptor, options.getClass()).invoke(by, at, of, options);
    }
}
