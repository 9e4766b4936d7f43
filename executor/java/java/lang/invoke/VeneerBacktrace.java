package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Hidden;

/**
 * Corrects the host's position in the trace of an exception that has been made. {@link VeneerWalk}
 * corrects traces while they are made, and uses the layout that this class knows.
 */
final class VeneerBacktrace {
    private VeneerBacktrace() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    static final long BACKTRACE = U.objectFieldOffset(Throwable.class, "backtrace");
    static final boolean READABLE = readable();

    /**
     * Whether {@code Throwable.backtrace} has the known layout. It is an array with method numbers,
     * bci and version, mirrors, names, the next chunk, and a mark for a hidden top frame. Newer
     * JDKs have continuations before the next chunk.
     */
    private static boolean readable() {
        try {
            Object[] chunk = (Object[]) U.getReference(new Throwable(), BACKTRACE);
            return (chunk.length == 6 || chunk.length == 7) && chunk[0] instanceof short[] && chunk[1] instanceof int[] && ((Object[]) chunk[2])[0] == VeneerBacktrace.class;
        } catch (Throwable e) {
            return false;
        }
    }

    /**
     * Corrects the trace of an exception that passes through a version, or is caught in it. Stack
     * traces omit frames of hidden classes, and show the host's frame at its stub. This method sets
     * the position of that frame to {@code bci}, where the host would have been: to the instruction
     * if {@code exact}, else only to the line. Fails unless the layout is {@link #READABLE}. If it
     * fails, the trace keeps the stub's line.
     */
    @Hidden
    static void locate(Object thrown, int bci, boolean exact) {
        Object[] chunk = (Object[]) U.getReference(thrown, BACKTRACE);
        if (chunk == null) {
            return;
        }
        // The first frame of a trace made here is the host's, unless the JVM shows hidden frames.
        Object[] here = (Object[]) U.getReference(new VeneerMark(), BACKTRACE);
        int first = 0;
        while (isOwn(((Object[]) here[2])[first])) {
            first++;
        }
        short method = ((short[]) here[0])[first];
        int at = ((int[]) here[1])[first];
        Object mirror = ((Object[]) here[2])[first];
        Object[] top = chunk;
        for (; chunk != null; chunk = (Object[]) chunk[chunk.length - 2]) {
            short[] methods = (short[]) chunk[0];
            int[] bcis = (int[]) chunk[1];
            Object[] mirrors = (Object[]) chunk[2];
            for (int i = 0; i < methods.length; i++) {
                if (bcis[i] == at && methods[i] == method && mirrors[i] == mirror) {
                    bcis[i] = bci << 16 | at & 0xFFFF;
                    if (i == 0 && chunk == top && exact) {
                        // The version itself threw the exception. With the exact position, the JVM
                        // can explain a null pointer. The mark for a hidden top frame would prevent
                        // that.
                        chunk[chunk.length - 1] = null;
                    }
                    return;
                }
            }
        }
    }

    /** Whether a frame of this class is one of {@link #locate} or of its caller. */
    private static boolean isOwn(Object mirror) {
        return mirror == VeneerBacktrace.class || mirror == VeneerRuntime.class;
    }
}
