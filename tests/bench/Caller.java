/** A generated class that calls all its methods. */
public interface Caller {
    /** Calls each once. */
    long all(long value);
}
