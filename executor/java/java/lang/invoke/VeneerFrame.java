package java.lang.invoke;

import java.util.Arrays;

/**
 * An activation on its way from one version of a method to another: the point where it stands and its live values.
 *
 * <p>Values are numbered in the order of the capture point: the operand stack from the bottom, then the live locals by slot. So a
 * frame means the same to every version. The version that takes the values out clears the frame: nothing keeps them alive but the
 * activation itself.
 */
public final class VeneerFrame {
    private final int point;
    /** Values so far. */
    private int count;
    private long[] words = NO_WORDS;
    private Object[] objects = NO_OBJECTS;
    /** State of instruments that travels: pairs of key and value. */
    private long[] state = NO_WORDS;

    private static final long[] NO_WORDS = {};
    private static final Object[] NO_OBJECTS = {};

    private VeneerFrame(int point) {
        this.point = point;
    }

    // Frames with their first values.

    public static VeneerFrame of(int point) {
        return new VeneerFrame(point);
    }

    public static VeneerFrame of(int a, int point) {
        return new VeneerFrame(point).add(a);
    }

    public static VeneerFrame of(int a, int b, int point) {
        return new VeneerFrame(point).add(a, b);
    }

    public static VeneerFrame of(int a, int b, int c, int point) {
        return new VeneerFrame(point).add(a, b, c);
    }

    public static VeneerFrame of(int a, int b, int c, int d, int point) {
        return new VeneerFrame(point).add(a, b, c, d);
    }

    public static VeneerFrame of(int a, int b, int c, int d, int e, int point) {
        return new VeneerFrame(point).add(a, b, c, d, e);
    }

    public static VeneerFrame of(int a, int b, int c, int d, int e, int f, int point) {
        return new VeneerFrame(point).add(a, b, c, d, e, f);
    }

    public static VeneerFrame of(long a, int point) {
        return new VeneerFrame(point).add(a);
    }

    public static VeneerFrame of(float a, int point) {
        return new VeneerFrame(point).add(a);
    }

    public static VeneerFrame of(double a, int point) {
        return new VeneerFrame(point).add(a);
    }

    public static VeneerFrame of(Object a, int point) {
        return new VeneerFrame(point).add(a);
    }

    public static VeneerFrame of(Object a, Object b, int point) {
        return new VeneerFrame(point).add(a, b);
    }

    public static VeneerFrame of(Object a, Object b, Object c, int point) {
        return new VeneerFrame(point).add(a, b, c);
    }

    public static VeneerFrame of(Object a, Object b, Object c, Object d, int point) {
        return new VeneerFrame(point).add(a, b, c, d);
    }

    public static VeneerFrame of(Object a, Object b, Object c, Object d, Object e, int point) {
        return new VeneerFrame(point).add(a, b, c, d, e);
    }

    public static VeneerFrame of(Object a, Object b, Object c, Object d, Object e, Object f, int point) {
        return new VeneerFrame(point).add(a, b, c, d, e, f);
    }

    public int point() {
        return point;
    }

    private VeneerFrame word(long value) {
        if (words.length <= count) {
            words = Arrays.copyOf(words, count + 4);
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
            objects = Arrays.copyOf(objects, count + 4);
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

    /** Drops the values: the activation has them now. */
    public void clear() {
        objects = NO_OBJECTS;
        words = NO_WORDS;
    }

    /** Keeps an instrument's state for the next version. */
    public VeneerFrame keep(int key, long value) {
        int n = state.length;
        long[] more = Arrays.copyOf(state, n + 2);
        more[n] = key;
        more[n + 1] = value;
        state = more;
        return this;
    }

    /** An instrument's state, 0 if it has none: it did not begin in this activation. */
    public long kept(int key) {
        for (int i = 0; i < state.length; i += 2) {
            if (state[i] == key) {
                return state[i + 1];
            }
        }
        return 0;
    }
}
