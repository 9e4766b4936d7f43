/** A generated class that calls all its methods. */
public interface Caller {
    /** Calls each method once. */
    long all(long value);
}
