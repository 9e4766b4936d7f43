/** Work that can be repeated and has the same result each time. */
public interface Work {
    /** Does the work once, and returns a checksum of the result. */
    long round() throws Exception;
}
