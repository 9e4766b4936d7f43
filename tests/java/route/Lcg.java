package route;

/** The generator of java.util.Random written out, so that the network is the same on every JDK. */
final class Lcg {
    private long state;

    Lcg(long seed) {
        state = (seed ^ 0x5DEECE66DL) & ((1L << 48) - 1);
    }

    private int bits(int count) {
        state = (state * 0x5DEECE66DL + 0xBL) & ((1L << 48) - 1);
        return (int) (state >>> (48 - count));
    }

    /** A number in 0 .. bound - 1. */
    int below(int bound) {
        return bits(31) % bound;
    }
}
