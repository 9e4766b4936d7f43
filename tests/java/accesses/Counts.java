import java.io.IOException;

/**
 * The arguments and the output of {@link Known}. The methods of this class are not in the output, so that the methods
 * of {@code Known} have no accesses beside those that it counts.
 */
final class Counts {
    private final StringBuilder lines = new StringBuilder();

    static int argument(String[] args, int position, int otherwise) {
        return args.length > position ? Integer.parseInt(args[position]) : otherwise;
    }

    /** Prints {@code pid N} and waits until the standard input ends, if the last argument is {@code wait}. */
    static void await(String[] args) throws IOException {
        if (args.length > 0 && args[args.length - 1].equals("wait")) {
            System.out.println("pid " + ProcessHandle.current().pid());
            while (System.in.read() >= 0) {
                continue;
            }
        }
    }

    /** Accesses that complete. */
    void count(String method, String kind, String accessed, long count) {
        lines.append("count " + method + " " + kind + " " + accessed + " " + count + "\n");
    }

    /** The accesses of a line {@code count} whose object is of this class. */
    void receiver(String method, String kind, String accessed, String receiver, long count) {
        lines.append("receiver " + method + " " + kind + " " + accessed + " " + receiver + " " + count + "\n");
    }

    /** Accesses that throw an exception instead. They are not in a line {@code count}. */
    void failed(String method, String kind, String accessed, long count) {
        lines.append("failed " + method + " " + kind + " " + accessed + " " + count + "\n");
    }

    void print(long checksum) {
        System.out.print(lines);
        System.out.println("checksum " + Long.toHexString(checksum));
    }
}
