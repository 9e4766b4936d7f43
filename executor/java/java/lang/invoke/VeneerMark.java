package java.lang.invoke;

/**
 * Made by {@link VeneerRuntime#locate} for its trace alone, to learn the frame of the host. {@link VeneerWalk} leaves the trace as
 * the JVM made it: an error that passes thousands of versions would cost a walk over the stack at each.
 */
final class VeneerMark extends Throwable {
    private static final long serialVersionUID = 1;

    VeneerMark() {
        super(null, null, false, true);
    }
}
