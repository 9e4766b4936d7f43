import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 * id, start and end in ticks, self ticks, processor time in nanoseconds or -, the duration and the self time
 * without the cost of observing, the unexplained time, all three in nanoseconds, and the ending.
 */
public final class TraceReader {
    private static final int HEADER_BYTES = 64;
    private static final int VERSION = 1;
    private static final long MAX_DECLARED_DEPTH = 1 << 16;
    private static final BigInteger MAX_NUMBER = new BigInteger("18446744073709551615");

    /** A node that has not ended. */
    private static final class OpenNode {
        long number;
        int kind;
        long id;
        long start;
        long inside;
        Long cpu;
        /** Costs in picoseconds: of omitted calls, of the nodes below, around the children; the uncertainty. */
        long omittedCost;
        long belowCost;
        long outsideCost;
        long spread;
    }

    /** The costs of a probe form in picoseconds: inside a call, outside it, and their uncertainty. */
    private record Probe(long inside, long outside, long spread) {
        static final Probe NONE = new Probe(0, 0, 0);
    }

    /** The content of the names file that the reader needs. */
    private static final class Names {
        long numerator = 1;
        long denominator = 1;
        final Map<Long, Probe> probes = new HashMap<>();
        /** The probe form of each frame. */
        final Map<Long, Long> frames = new HashMap<>();

        void add(String[] fields) {
            switch (fields[0]) {
                case "clock" -> {
                    numerator = Long.parseLong(fields[3]);
                    denominator = Long.parseLong(fields[4]);
                }
                case "probe" -> {
                    long spread = Long.parseLong(fields[5]);
                    Probe probe = new Probe(Long.parseLong(fields[3]), Long.parseLong(fields[4]), spread);
                    probes.put(Long.valueOf(fields[1]), probe);
                }
                case "frame" -> frames.put(Long.valueOf(fields[1]), Long.valueOf(fields[7]));
                default -> { }
            }
        }

        Probe probe(long number) {
            return probes.getOrDefault(number, Probe.NONE);
        }

        Probe ofNode(OpenNode node) {
            return node.kind == 1 ? probe(frames.getOrDefault(node.id, 0L)) : Probe.NONE;
        }
    }

    /** A segment: its words begin at `offset`. */
    private record Segment(long start, long depth, int offset, int end) {}

    private final StringBuilder output = new StringBuilder();
    private final int thread;
    private final Names names;
    private final List<OpenNode> open = new ArrayList<>();
    private long nextNumber;
    private long now;
    private long readingTicks;
    private Long reading;

    private TraceReader(int thread, Names names) {
        this.thread = thread;
        this.names = names;
    }

    private static long crc(byte[] bytes, int from, int length) {
        CRC32 sum = new CRC32();
        sum.update(bytes, from, length);
        return sum.getValue();
    }

    /** Reads the clock, the frames and the probe forms. The last record of each counts. */
    private static Names readNames(Path directory) throws IOException {
        Names names = new Names();
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
            } else {
                names.add(fields);
            }
        }
        if (!isTrace) {
            throw new IOException(directory + " is not a trace of version " + VERSION);
        }
        return names;
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
        return reading + nanoseconds(ticksSince(readingTicks));
    }

    /** A duration in nanoseconds, an unsigned number like the ticks. */
    private long nanoseconds(long ticks) {
        BigInteger product = new BigInteger(Long.toUnsignedString(ticks)).multiply(BigInteger.valueOf(names.numerator));
        return product.divide(BigInteger.valueOf(names.denominator)).min(MAX_NUMBER).longValue();
    }

    /** A time without a cost in picoseconds, in nanoseconds. */
    private long corrected(long ticks, long cost) {
        long raw = nanoseconds(ticks);
        return Long.compareUnsigned(raw, cost / 1000) < 0 ? 0 : raw - cost / 1000;
    }

    /** The part of a cost in nanoseconds that exceeds the time. */
    private long excess(long ticks, long cost) {
        long raw = nanoseconds(ticks);
        return Long.compareUnsigned(raw, cost / 1000) < 0 ? cost / 1000 - raw : 0;
    }

    /** Calls that the recorder left out inside the innermost node. */
    private void omit(long probe, long count) {
        if (!open.isEmpty()) {
            OpenNode node = open.get(open.size() - 1);
            Probe cost = names.probe(probe);
            node.omittedCost += count * (cost.inside() + cost.outside());
        }
    }

    private OpenNode node(int kind, long id) {
        OpenNode node = new OpenNode();
        node.number = nextNumber++;
        node.kind = kind;
        node.id = id;
        node.start = now;
        return node;
    }

    private void begin(int kind, long id) {
        OpenNode node = node(kind, id);
        node.cpu = kind == 0 ? null : cpu();
        open.add(node);
    }

    private void end(String ending) {
        if (open.isEmpty()) {
            return;
        }
        OpenNode node = open.remove(open.size() - 1);
        long ticks = ticksSince(node.start);
        Probe probe = names.ofNode(node);
        long own = probe.inside() + node.omittedCost;
        long cost = own + node.belowCost;
        long spread = probe.spread() + node.spread;
        if (!open.isEmpty()) {
            OpenNode parent = open.get(open.size() - 1);
            parent.inside += ticks;
            parent.belowCost += cost + probe.outside();
            parent.outsideCost += probe.outside();
            parent.spread += spread;
        }
        long self = Math.max(ticks - node.inside, 0);
        long[] times = {
            corrected(ticks, cost), corrected(self, own + node.outsideCost), spread / 1000 + excess(ticks, cost),
        };
        Long until = cpu();
        Long cpu = node.cpu == null || until == null ? null : Long.valueOf(Math.max(until - node.cpu, 0));
        print(node, self, cpu, times, ending);
    }

    private void print(OpenNode node, long self, Long cpu, long[] times, String ending) {
        Object parent = open.isEmpty() ? "-" : (Object) open.get(open.size() - 1).number;
        Object time = cpu == null ? "-" : (Object) cpu;
        for (Object field : new Object[] {
            thread, node.number, parent, open.size(), node.kind, node.id, Long.toUnsignedString(node.start),
            Long.toUnsignedString(now), self, time, Long.toUnsignedString(times[0]), Long.toUnsignedString(times[1]),
            Long.toUnsignedString(times[2]),
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
        } else if (kind == 0x2b) {
            omit(id, counts[0]);
        } else if (kind != 0x2a) {
            print(node(kind, id), 0, null, new long[3], "exit");
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
            Long high = null;
            while (at + 8 <= segment.end() && (buffer.get(at) & 0x80) != 0) {
                long argument = buffer.getLong(at);
                switch ((int) argument & 0xff) {
                    case 0x80 -> id = argument >>> 8;
                    case 0x81 -> {
                        if (count < counts.length) {
                            long number = high == null ? argument >> 8 : high | argument >>> 8;
                            counts[count++] = Math.max(number, 0);
                        }
                    }
                    case 0x89 -> {
                        reading = argument >>> 8;
                        readingTicks = now;
                    }
                    default -> { }
                }
                high = ((int) argument & 0xff) == 0x82 ? Long.valueOf(argument >>> 8 << 56) : null;
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
        Names names = readNames(directory);
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
            TraceReader reader = new TraceReader(thread, names);
            reader.read(directory.resolve("thread-" + thread + ".events"));
            System.out.write(reader.output.toString().getBytes(StandardCharsets.UTF_8));
        }
        System.out.flush();
    }
}
