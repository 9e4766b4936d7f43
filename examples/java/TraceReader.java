import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * Reads a trace of Veneer (docs/traces.md) without any library.
 *
 * <pre>java TraceReader.java DIRECTORY</pre>
 *
 * The program prints one line per node, in the order of their ends: thread, number, parent or -, depth, kind,
 * id, start and end in ticks, self ticks, processor time in nanoseconds or -, and the ending.
 */
public final class TraceReader {
    private static final int HEADER_BYTES = 64;
    private static final int VERSION = 1;
    private static final long MAX_DECLARED_DEPTH = 1 << 16;

    /** A node that has not ended. */
    private static final class OpenNode {
        long number;
        int kind;
        long id;
        long start;
        long inside;
        Long cpu;
    }

    /** A segment: its words begin at `offset`. */
    private record Segment(long start, long depth, int offset, int end) {}

    private final StringBuilder output = new StringBuilder();
    private final int thread;
    private final long numerator;
    private final long denominator;
    private final List<OpenNode> open = new ArrayList<>();
    private long nextNumber;
    private long now;
    private long readingTicks;
    private Long reading;

    private TraceReader(int thread, long numerator, long denominator) {
        this.thread = thread;
        this.numerator = numerator;
        this.denominator = denominator;
    }

    private static long crc(byte[] bytes, int from, int length) {
        CRC32 sum = new CRC32();
        sum.update(bytes, from, length);
        return sum.getValue();
    }

    /** The rate of the last clock record: numerator and denominator. */
    private static long[] readRate(Path directory) throws IOException {
        long[] rate = {1, 1};
        boolean isTrace = false;
        String text = Files.readString(directory.resolve("names"), StandardCharsets.ISO_8859_1);
        for (String line : text.split("\n", -1)) {
            if (line.length() < 10 || line.charAt(8) != ' ') {
                continue;
            }
            byte[] bytes = line.getBytes(StandardCharsets.ISO_8859_1);
            if (!line.substring(0, 8).equals(String.format("%08x", crc(bytes, 9, bytes.length - 9)))) {
                continue;
            }
            String[] fields = line.substring(9).split("\t", -1);
            if (fields[0].equals("trace")) {
                isTrace = Integer.parseInt(fields[1]) <= VERSION;
            } else if (fields[0].equals("clock")) {
                rate = new long[] {Long.parseLong(fields[3]), Long.parseLong(fields[4])};
            }
        }
        if (!isTrace) {
            throw new IOException(directory + " is not a trace of version " + VERSION);
        }
        return rate;
    }

    private static TreeMap<Long, Segment> segments(byte[] data, ByteBuffer buffer, int thread) {
        TreeMap<Long, Segment> found = new TreeMap<>();
        int size = 1 << 20;
        for (long at = 0; at + HEADER_BYTES <= data.length; at += size) {
            int offset = (int) at;
            boolean isValid = new String(data, offset, 8, StandardCharsets.ISO_8859_1).equals("veneer t")
                && Integer.toUnsignedLong(buffer.getInt(offset + 56)) == crc(data, offset, 56)
                && buffer.getShort(offset + 8) <= VERSION;
            if (isValid && buffer.getLong(offset + 16) == thread) {
                size = buffer.getInt(offset + 12);
                int end = (int) Math.min(data.length, at + size);
                long depth = Integer.toUnsignedLong(buffer.getInt(offset + 40));
                Segment segment = new Segment(buffer.getLong(offset + 32), depth, offset + HEADER_BYTES, end);
                found.put(buffer.getLong(offset + 24), segment);
            }
        }
        return found;
    }

    /** The ticks since an earlier time; 0 if damage has made the time step backwards. */
    private long ticksSince(long earlier) {
        return Long.compareUnsigned(now, earlier) < 0 ? 0 : now - earlier;
    }

    private Long cpu() {
        if (reading == null) {
            return null;
        }
        BigInteger ticks = new BigInteger(Long.toUnsignedString(ticksSince(readingTicks)));
        BigInteger since = ticks.multiply(BigInteger.valueOf(numerator)).divide(BigInteger.valueOf(denominator));
        return reading + since.longValue();
    }

    private void begin(int kind, long id) {
        OpenNode node = new OpenNode();
        node.number = nextNumber++;
        node.kind = kind;
        node.id = id;
        node.start = now;
        node.cpu = kind == 0 ? null : cpu();
        open.add(node);
    }

    private void end(String ending) {
        if (open.isEmpty()) {
            return;
        }
        OpenNode node = open.remove(open.size() - 1);
        long ticks = ticksSince(node.start);
        if (!open.isEmpty()) {
            open.get(open.size() - 1).inside += ticks;
        }
        Long until = cpu();
        Long cpu = node.cpu == null || until == null ? null : Long.valueOf(Math.max(until - node.cpu, 0));
        print(node.number, node.kind, node.id, node.start, Math.max(ticks - node.inside, 0), cpu, ending);
    }

    private void print(long number, int kind, long id, long start, long self, Long cpu, String ending) {
        Object parent = open.isEmpty() ? "-" : (Object) open.get(open.size() - 1).number;
        Object time = cpu == null ? "-" : (Object) cpu;
        for (Object field : new Object[] {
            thread, number, parent, open.size(), kind, id, Long.toUnsignedString(start),
            Long.toUnsignedString(now), self, time,
        }) {
            output.append(field).append(' ');
        }
        output.append(ending).append('\n');
    }

    private void loseDownTo(long depth) {
        while (open.size() > depth) {
            end("lost");
        }
    }

    private void openUnknown(long depth) {
        while (open.size() < depth) {
            begin(0, 0);
        }
    }

    private void setDepth(long lowest, long depth) {
        loseDownTo(Math.min(lowest, MAX_DECLARED_DEPTH));
        openUnknown(Math.min(depth, MAX_DECLARED_DEPTH));
    }

    private void event(int kind, long id, long[] counts) {
        if (kind < 0x20) {
            begin(kind, id);
        } else if (kind == 0x2c) {
            setDepth(counts[1], counts[2]);
        } else if (kind > 0x40 && kind < 0x50) {
            end(kind == 0x42 ? "throw" : "exit");
        } else if (kind != 0x2a && kind != 0x2b) {
            print(nextNumber++, kind, id, now, 0, null, "exit");
        }
    }

    private void readWords(ByteBuffer buffer, Segment segment) {
        int at = segment.offset();
        while (at + 8 <= segment.end()) {
            long word = buffer.getLong(at);
            int kind = (int) word & 0xff;
            at += 8;
            if (kind == 0) {
                return;
            }
            if (kind >= 0x80) {
                continue;
            }
            long later = now + (kind < 0x40 ? word >>> 32 : word >>> 8);
            now = Long.compareUnsigned(later, now) < 0 ? -1 : later;
            long id = kind < 0x40 ? (word >>> 8) & 0xffffff : 0;
            long[] counts = new long[3];
            int count = 0;
            while (at + 8 <= segment.end() && (buffer.get(at) & 0x80) != 0) {
                long argument = buffer.getLong(at);
                switch ((int) argument & 0xff) {
                    case 0x80 -> id = argument >>> 8;
                    case 0x81 -> {
                        if (count < counts.length) {
                            counts[count++] = argument >>> 8;
                        }
                    }
                    case 0x89 -> {
                        reading = argument >>> 8;
                        readingTicks = now;
                    }
                    default -> { }
                }
                at += 8;
            }
            if (kind != 0x40) {
                event(kind, id, counts);
            }
        }
    }

    private void read(Path path) throws IOException {
        byte[] data = Files.readAllBytes(path);
        ByteBuffer buffer = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        Long before = null;
        for (var entry : segments(data, buffer, thread).entrySet()) {
            if (before != null && entry.getKey() > before + 1) {
                loseDownTo(0);
            }
            before = entry.getKey();
            now = entry.getValue().start();
            if (entry.getValue().depth() != 0xffffffffL) {
                setDepth(entry.getValue().depth(), entry.getValue().depth());
            }
            readWords(buffer, entry.getValue());
        }
        while (!open.isEmpty()) {
            end("cut");
        }
    }

    /** Prints the nodes of all threads. */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        long[] rate = readRate(directory);
        TreeSet<Integer> threads = new TreeSet<>();
        try (var files = Files.list(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Matcher name = Pattern.compile("thread-(\\d+)\\.events").matcher(file.getFileName().toString());
                if (name.matches()) {
                    threads.add(Integer.valueOf(name.group(1)));
                }
            }
        }
        for (int thread : threads) {
            TraceReader reader = new TraceReader(thread, rate[0], rate[1]);
            reader.read(directory.resolve("thread-" + thread + ".events"));
            System.out.write(reader.output.toString().getBytes(StandardCharsets.UTF_8));
        }
        System.out.flush();
    }
}
