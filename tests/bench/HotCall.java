/**
 * A small method that is called continuously. The cost of a timer around it is the difference from
 * the plain run, per call.
 *
 * <p>Arguments: the number of calls in a round.
 */
public final class HotCall implements Work {
    private final int calls;

    public HotCall(String[] args) {
        calls = Integer.parseInt(args[0]);
    }

    @Override
    public long round() {
        long value = 1;
        for (int i = 0; i < calls; i++) {
            value = step(value, i);
        }
        return value;
    }

    /** A few operations; the result of one call is the argument of the next. */
    static long step(long value, int turn) {
        long mixed = (value ^ turn) * 0x9E3779B97F4A7C15L;
        return mixed ^ mixed >>> 29;
    }
}
