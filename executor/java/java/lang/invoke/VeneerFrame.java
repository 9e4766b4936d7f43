package java.lang.invoke;

import java.util.Arrays;

/**
 * An activation that moves from one version of a method to another: its capture point and its live
 * values.
 *
 * <p>Values are numbered in the order of the capture point: the operand stack from the bottom, then
 * the live locals by slot. So a frame means the same to every version. The version that reads the
 * values clears the frame, so that only the activation itself keeps them reachable.
 */
public final class VeneerFrame {
    private int point;
    /** Number of values so far. */
    private int count;
    private long[] words = NO_WORDS;
    private Object[] objects = NO_OBJECTS;
    /**
     * State of instruments that moves with the activation: pairs of key and value, {@link #states}
     * numbers in all.
     */
    private long[] state = NO_WORDS;
    private int states;
    /**
     * The frame of {@link VeneerReserve} whose arrays this frame uses; null if it uses none. {@link
     * #clear} puts the frame back.
     */
    private VeneerFrame borrowed;

    private static final long[] NO_WORDS = {};
    private static final Object[] NO_OBJECTS = {};

    private VeneerFrame(int point) {
        this.point = point;
    }

    /**
     * A frame for {@link VeneerReserve} with room for {@code values} values and {@code values}
     * numbers of state.
     */
    static VeneerFrame withRoom(int values) {
        VeneerFrame frame = new VeneerFrame(0);
        frame.words = new long[values];
        frame.objects = new Object[values];
        frame.state = new long[values];
        return frame;
    }

    /** A new frame; on a full heap one of the reserve. */
    private static VeneerFrame make(int point) {
        try {
            return new VeneerFrame(point);
        } catch (OutOfMemoryError full) {
            VeneerFrame frame = VeneerReserve.take(full);
            frame.point = point;
            frame.borrowed = frame;
            return frame;
        }
    }

    /** The heap is full: takes the arrays of a frame of the reserve. */
    private void borrow(OutOfMemoryError full) {
        if (borrowed != null) {
            throw full;
        }
        VeneerFrame from = VeneerReserve.take(full);
        if (count >= from.words.length || states >= from.state.length) {
            VeneerReserve.put(from);
            throw full;
        }
        System.arraycopy(words, 0, from.words, 0, Math.min(words.length, count));
        System.arraycopy(objects, 0, from.objects, 0, Math.min(objects.length, count));
        System.arraycopy(state, 0, from.state, 0, states);
        words = from.words;
        objects = from.objects;
        state = from.state;
        borrowed = from;
    }

    // Frames with their first values.

    public static VeneerFrame of(int point) {
        return make(point);
    }

    public static VeneerFrame of(int a, int point) {
        return make(point).add(a);
    }

    public static VeneerFrame of(int a, int b, int point) {
        return make(point).add(a, b);
    }

    public static VeneerFrame of(int a, int b, int c, int point) {
        return make(point).add(a, b, c);
    }

    public static VeneerFrame of(int a, int b, int c, int d, int point) {
        return make(point).add(a, b, c, d);
    }

    public static VeneerFrame of(int a, int b, int c, int d, int e, int point) {
        return make(point).add(a, b, c, d, e);
    }

    public static VeneerFrame of(int a, int b, int c, int d, int e, int f, int point) {
        return make(point).add(a, b, c, d, e, f);
    }

    public static VeneerFrame of(long a, int point) {
        return make(point).add(a);
    }

    public static VeneerFrame of(float a, int point) {
        return make(point).add(a);
    }

    public static VeneerFrame of(double a, int point) {
        return make(point).add(a);
    }

    public static VeneerFrame of(Object a, int point) {
        return make(point).add(a);
    }

    public static VeneerFrame of(Object a, Object b, int point) {
        return make(point).add(a, b);
    }

    public static VeneerFrame of(Object a, Object b, Object c, int point) {
        return make(point).add(a, b, c);
    }

    public static VeneerFrame of(Object a, Object b, Object c, Object d, int point) {
        return make(point).add(a, b, c, d);
    }

    public static VeneerFrame of(Object a, Object b, Object c, Object d, Object e, int point) {
        return make(point).add(a, b, c, d, e);
    }

    public static VeneerFrame of(Object a, Object b, Object c, Object d, Object e, Object f, int point) {
        return make(point).add(a, b, c, d, e, f);
    }

    public int point() {
        return point;
    }

    /** The room for values when there is none left: twice as much. */
    private int room() {
        return Math.max(8, count * 2);
    }

    private VeneerFrame word(long value) {
        if (words.length <= count) {
            try {
                words = Arrays.copyOf(words, room());
            } catch (OutOfMemoryError full) {
                borrow(full);
            }
        }
        words[count++] = value;
        return this;
    }

    public VeneerFrame add(int a) {
        return word(a);
    }

    public VeneerFrame add(int a, int b) {
        return word(a).word(b);
    }

    public VeneerFrame add(int a, int b, int c) {
        return word(a).word(b).word(c);
    }

    public VeneerFrame add(int a, int b, int c, int d) {
        return word(a).word(b).word(c).word(d);
    }

    public VeneerFrame add(int a, int b, int c, int d, int e) {
        return word(a).word(b).word(c).word(d).word(e);
    }

    public VeneerFrame add(int a, int b, int c, int d, int e, int f) {
        return word(a).word(b).word(c).word(d).word(e).word(f);
    }

    public VeneerFrame add(long a) {
        return word(a);
    }

    public VeneerFrame add(float a) {
        return word(Float.floatToRawIntBits(a));
    }

    public VeneerFrame add(double a) {
        return word(Double.doubleToRawLongBits(a));
    }

    public VeneerFrame add(Object a) {
        if (objects.length <= count) {
            try {
                objects = Arrays.copyOf(objects, room());
            } catch (OutOfMemoryError full) {
                borrow(full);
            }
        }
        objects[count++] = a;
        return this;
    }

    public VeneerFrame add(Object a, Object b) {
        return add(a).add(b);
    }

    public VeneerFrame add(Object a, Object b, Object c) {
        return add(a).add(b).add(c);
    }

    public VeneerFrame add(Object a, Object b, Object c, Object d) {
        return add(a).add(b).add(c).add(d);
    }

    public VeneerFrame add(Object a, Object b, Object c, Object d, Object e) {
        return add(a).add(b).add(c).add(d).add(e);
    }

    public VeneerFrame add(Object a, Object b, Object c, Object d, Object e, Object f) {
        return add(a).add(b).add(c).add(d).add(e).add(f);
    }

    public int getInt(int index) {
        return (int) words[index];
    }

    public long getLong(int index) {
        return words[index];
    }

    public float getFloat(int index) {
        return Float.intBitsToFloat((int) words[index]);
    }

    public double getDouble(int index) {
        return Double.longBitsToDouble(words[index]);
    }

    public Object getObject(int index) {
        return objects[index];
    }

    /**
     * Drops the values after the activation has read them. Returns a frame of the reserve to it.
     */
    public void clear() {
        VeneerFrame from = borrowed;
        if (from != null) {
            Arrays.fill(from.objects, null);
            from.count = 0;
            from.states = 0;
            from.borrowed = null;
            borrowed = null;
            if (from == this) {
                VeneerReserve.put(this);
                return;
            }
            state = NO_WORDS;
            states = 0;
            VeneerReserve.put(from);
        }
        objects = NO_OBJECTS;
        words = NO_WORDS;
    }

    /** Keeps an instrument's state for the next version. */
    public VeneerFrame keep(int key, long value) {
        if (state.length <= states) {
            try {
                state = Arrays.copyOf(state, states + 4);
            } catch (OutOfMemoryError full) {
                borrow(full);
            }
        }
        state[states++] = key;
        state[states++] = value;
        return this;
    }

    /** An instrument's state, 0 if it has none: it did not begin in this activation. */
    public long kept(int key) {
        for (int i = 0; i < states; i += 2) {
            if (state[i] == key) {
                return state[i + 1];
            }
        }
        return 0;
    }
}
