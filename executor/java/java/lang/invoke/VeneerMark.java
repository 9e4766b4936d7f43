package java.lang.invoke;

/**
 * An exception that {@link VeneerBacktrace#locate} creates only to read the host's frame from its
 * trace. {@link VeneerWalk} does not correct this trace. Otherwise an error that passes through
 * thousands of versions would cost a stack walk at each of them.
 */
final class VeneerMark extends Throwable {
    private static final long serialVersionUID = 1;

    VeneerMark() {
        super(null, null, false, true);
    }
}
