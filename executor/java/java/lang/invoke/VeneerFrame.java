package java.lang.invoke;

/**
 * An activation on its way from one version of a method to another: the point where it stands and its live values.
 *
 * <p>Slots are those of the original method, so a frame means the same to every version: locals first, then the operand stack.
 */
public final class VeneerFrame {
    private final int point;
    private final long[] words;
    private final Object[] objects;
    /** State of instruments that travels: pairs of key and value. */
    private long[] state = new long[0];

    VeneerFrame(int point, int slots) {
        this.point = point;
        words = new long[slots];
        objects = new Object[slots];
    }

    public int point() {
        return point;
    }

    public void put(int slot, int value) {
        words[slot] = value;
    }

    public void put(int slot, long value) {
        words[slot] = value;
    }

    public void put(int slot, float value) {
        words[slot] = Float.floatToRawIntBits(value);
    }

    public void put(int slot, double value) {
        words[slot] = Double.doubleToRawLongBits(value);
    }

    public void put(int slot, Object value) {
        objects[slot] = value;
    }

    public int getInt(int slot) {
        return (int) words[slot];
    }

    public long getLong(int slot) {
        return words[slot];
    }

    public float getFloat(int slot) {
        return Float.intBitsToFloat((int) words[slot]);
    }

    public double getDouble(int slot) {
        return Double.longBitsToDouble(words[slot]);
    }

    public Object getObject(int slot) {
        return objects[slot];
    }

    /** Keeps an instrument's state for the next version. */
    public void keep(int key, long value) {
        int n = state.length;
        long[] more = new long[n + 2];
        System.arraycopy(state, 0, more, 0, n);
        more[n] = key;
        more[n + 1] = value;
        state = more;
    }

    /** An instrument's state, 0 where it has none: it did not begin in this activation. */
    public long kept(int key) {
        for (int i = 0; i < state.length; i += 2) {
            if (state[i] == key) {
                return state[i + 1];
            }
        }
        return 0;
    }
}
