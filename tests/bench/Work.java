/** Work that can be done again and again and gives the same result each time. */
public interface Work {
    /** Does it once; gives a checksum of what came out. */
    long round() throws Exception;
}
