package java.lang.invoke;

import java.util.Arrays;
import java.util.Set;
import java.util.Spliterator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import jdk.internal.misc.Unsafe;

/**
 * Corrects the lines of a stack trace when the trace is made, on the thread that makes the
 * exception.
 *
 * <pre>
 *   fillInStackTrace (native) ─▶ the JVM's own ─▶ {@link #filled}: does the trace show a class of {@link VeneerHosts}?
 *                                                     └─▶ a walk over the stack, hidden frames included:
 *        callee               callee
 *        Host$V/0x….run$e17   –                 its class data has the position in the armed body   ─┐
 *        (LambdaForm …)       –                                                                      │
 *        Host.m  at its stub  Host.m at its stub                                         position  ◀─┘
 * </pre>
 *
 * The JVM omits frames of hidden classes from traces. An activation in a version shows only the
 * frame of the host, at the stub by which the activation left the armed body. A version's class
 * data has the position in the armed body for each of its instructions. So the trace gets the
 * position that the original method would have.
 */
final class VeneerWalk 
        implements Consumer<StackWalker.StackFrame>, Function<Stream<StackWalker.StackFrame>, Object> {
    private static final Unsafe U = Unsafe.getUnsafe();

    /**
     * Created in {@link #begin}. The creation loads classes, which may get versions and so call
     * this class again.
     */
    private static StackWalker walker;

    /** 0: not tried; 1: traces are corrected; -1: this JVM does not allow it. */
    private static int state;

    /** The exception whose trace is corrected. */
    private final Throwable thrown;
    /** Whether the walk is still above the first frame that the trace shows. */
    private boolean above = true;
    // The frames of classes that have versions, the innermost first: class, bci (high half) and
    // place in the armed body, or -1.
    private Class<?>[] classes = new Class<?>[16];
    private long[] frames = new long[16];
    private int found;
    /**
     * The class that the innermost version frame since the last frame of a host is a version of.
     */
    private Class<?> versionOf;

    private int place;
    /**
     * Number of frames in the trace whose classes have versions. The walk ends after the last one.
     */
    private final int wanted;

    private VeneerWalk(Throwable thrown, int wanted) {
        this.thrown = thrown;
        this.wanted = wanted;
    }

    /** Whether traces are corrected when they are made. */
    static boolean isOn() {
        return state > 0;
    }

    /** Called before the first version is defined. */
    static synchronized void beginOnce() {
        if (state == 0) {
            begin();
        }
    }

    /** Loads everything that a walk needs, and then replaces the JVM's native method. */
    private static void begin() {
        state = -1;
        if (VeneerBacktrace.READABLE) {
            walker = StackWalker.getInstance(
                    Set.of(StackWalker.Option.RETAIN_CLASS_REFERENCE, StackWalker.Option.SHOW_HIDDEN_FRAMES));
            new VeneerWalk(null, Integer.MAX_VALUE).walk();
            if (hook(Throwable.class, VeneerWalk.class)) {
                state = 1;
            }
        }
    }

    /**
     * Binds {@code Throwable.fillInStackTrace(int)} to the agent's function, which calls the JVM's,
     * then {@link #filled}.
     */
    private static native boolean hook(Class<?> throwable, Class<?> walk);

    /** Binds the method again after the agent has unbound it. The agent calls it. */
    static void bindAgain() {
        hook(Throwable.class, VeneerWalk.class);
    }

    private void walk() {
        walker.walk(this);
    }

    @Override
    public Object apply(Stream<StackWalker.StackFrame> frames) {
        Spliterator<StackWalker.StackFrame> next = frames.spliterator();
        while (found < wanted && next.tryAdvance(this)) {}
        return null;
    }

    /** Corrects the trace that the JVM has just filled in. The agent calls it. */
    static void filled(Throwable thrown) {
        if (thrown instanceof VeneerMark) {
            return;
        }
        Object[] top = (Object[]) U.getReference(thrown, VeneerBacktrace.BACKTRACE);
        int shown = 0;
        for (Object[] chunk = top; chunk != null; chunk = (Object[]) chunk[chunk.length - 2]) {
            Object before = null;
            boolean patched = false;
            for (Object mirror : (Object[]) chunk[2]) {
                if (mirror == null) {
                    break;
                }
                if (mirror != before) {
                    before = mirror;
                    patched = VeneerHosts.mayRun(mirror);
                }
                if (patched) {
                    shown++;
                }
            }
        }
        if (shown > 0) {
            VeneerHosts.shown++;
            VeneerWalk walk = new VeneerWalk(thrown, shown);
            walk.walk();
            walk.write(top);
        }
    }

    @Override
    public void accept(StackWalker.StackFrame frame) {
        Class<?> c = frame.getDeclaringClass();
        if (c.isHidden()) {
            Object[] data = versionOf == null ? VeneerVersions.data(c) : null;
            if (data != null) {
                int at = placeOf((int[]) data[1], frame.getMethodName(), frame.getByteCodeIndex());
                if (at >= 0) {
                    versionOf = (Class<?>) data[2];
                    place = at;
                }
            }
        } else if (above && isSkipped(c, frame.getMethodName())) {
            return;
        } else if (VeneerHosts.mayRun(c)) {
            above = false;
            // The version may be that of another class in the nest. Then this frame is at its own
            // position.
            boolean left = versionOf == c;
            if (found == classes.length) {
                classes = Arrays.copyOf(classes, found * 2);
                frames = Arrays.copyOf(frames, found * 2);
            }
            classes[found] = c;
            frames[found++] = (long) frame.getByteCodeIndex() << 32 | (left ? place : -1) & 0xFFFFFFFFL;
            versionOf = null;
        } else {
            above = false;
        }
    }

    /**
     * Whether the trace omits a frame at the top: those that create the exception, and those of
     * this walk.
     */
    private boolean isSkipped(Class<?> c, String method) {
        return c == VeneerWalk.class || c.isInstance(thrown) && (method.equals("<init>") || method.equals("fillInStackTrace"));
    }

    /**
     * The position in the armed body for a bci in a method of a version; negative if it is not
     * known.
     */
    static long place(Class<?> version, String method, int bci) {
        Object[] data = VeneerVersions.data(version);
        return data == null ? -1 : placeOf((int[]) data[1], method, bci);
    }

    /** Looks a position up in the table of a version's class data; negative if it is not known. */
    private static int placeOf(int[] table, String method, int bci) {
        int id = 0;
        for (int i = method.lastIndexOf('$') + 2; i < method.length(); i++) {
            char digit = method.charAt(i);
            if (digit < '0' || digit > '9') {
                return -1;
            }
            id = id * 10 + digit - '0';
        }
        for (int at = 0; at < table.length; at += 2 + table[at + 1]) {
            if (table[at] == id) {
                int place = -1;
                for (int i = at + 2; i < at + 2 + table[at + 1] && table[i] >>> 16 <= bci; i++) {
                    place = table[i] & 0xFFFF;
                }
                return place;
            }
        }
        return -1;
    }

    /**
     * Writes the positions of the frames of hosts into the trace. The trace has the same frames of
     * these classes in the same order, because none of their methods is hidden, but it may end
     * earlier. At the first frame that differs, this method leaves the rest of the trace unchanged.
     */
    private void write(Object[] top) {
        int next = 0;
        for (Object[] chunk = top; chunk != null; chunk = (Object[]) chunk[chunk.length - 2]) {
            int[] bcis = (int[]) chunk[1];
            Object[] mirrors = (Object[]) chunk[2];
            for (int i = 0; i < mirrors.length && mirrors[i] != null; i++) {
                if (!VeneerHosts.mayRun(mirrors[i])) {
                    continue;
                }
                if (next == found || mirrors[i] != classes[next] || bcis[i] >>> 16 != (int) (frames[next] >>> 32)) {
                    return;
                }
                int at = (int) frames[next++];
                if (at >= 0) {
                    bcis[i] = at << 16 | bcis[i] & 0xFFFF;
                    if (i == 0 && chunk == top) {
                        // The version itself made the exception. With the exact position, the JVM
                        // can explain a null pointer. The mark for a hidden top frame would prevent
                        // that.
                        chunk[chunk.length - 1] = null;
                    }
                }
            }
        }
    }
}
