import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A database of addresses in memory with the operations of {@code _209_db} of SPECjvm98. Each round reads the
 * database from its file, sorts the records by one field after the other, and finds records.
 *
 * <p>Arguments: the file, which is written first; the number of records; the number of rounds. At the end the
 * program prints how many nanoseconds each operation took by its own clock.
 */
final class Database {
    private static final int FIELDS = 6;
    private static final int WANTED = 200;
    private List<String[]> records = new ArrayList<>();

    public static void main(String[] args) throws IOException {
        Path file = Path.of(args[0]);
        generate(file, Integer.parseInt(args[1]));
        Database database = new Database();
        long[] nanos = new long[3];
        long sum = 0;
        for (int round = 0; round < Integer.parseInt(args[2]); round++) {
            long begin = System.nanoTime();
            database.readDb(file);
            nanos[0] += System.nanoTime() - begin;
            for (int field = 0; field < FIELDS; field++) {
                begin = System.nanoTime();
                int[] index = database.shellSort(field);
                nanos[1] += System.nanoTime() - begin;
                sum = sum * 31 + index[round % index.length];
            }
            begin = System.nanoTime();
            sum = sum * 31 + database.find();
            nanos[2] += System.nanoTime() - begin;
        }
        System.out.println("sum " + Long.toHexString(sum));
        System.out.println("readDb " + nanos[0]);
        System.out.println("shellSort " + nanos[1]);
        System.out.println("find " + nanos[2]);
    }

    private static void generate(Path file, int count) throws IOException {
        Random random = new Random(209);
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(file))) {
            for (int record = 0; record < count; record++) {
                StringBuilder line = new StringBuilder();
                for (int field = 0; field < FIELDS; field++) {
                    line.append(field == 0 ? "" : "\t");
                    for (int i = 3 + random.nextInt(9); i > 0; i--) {
                        line.append((char) ('a' + random.nextInt(26)));
                    }
                }
                out.println(line);
            }
        }
    }

    private void readDb(Path file) throws IOException {
        List<String[]> read = new ArrayList<>();
        try (BufferedReader in = Files.newBufferedReader(file)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                read.add(line.split("\t"));
            }
        }
        records = read;
    }

    /** Returns the numbers of the records in the order of a field; equal ones in their own order. */
    private int[] shellSort(int field) {
        int[] index = new int[records.size()];
        for (int i = 0; i < index.length; i++) {
            index[i] = i;
        }
        int gap = 1;
        while (gap < index.length / 3) {
            gap = 3 * gap + 1;
        }
        for (; gap > 0; gap /= 3) {
            for (int i = gap; i < index.length; i++) {
                int moved = index[i];
                String key = records.get(moved)[field];
                int place = i;
                while (place >= gap && isAfter(index[place - gap], moved, key, field)) {
                    index[place] = index[place - gap];
                    place -= gap;
                }
                index[place] = moved;
            }
        }
        return index;
    }

    private boolean isAfter(int other, int moved, String key, int field) {
        int order = records.get(other)[field].compareTo(key);
        return order > 0 || order == 0 && other > moved;
    }

    /** Returns the number of records that have the same text in some field as one of the wanted records. */
    private long find() {
        long found = 0;
        for (int i = 0; i < WANTED; i++) {
            String[] wanted = records.get(i * 7 % records.size());
            for (String[] record : records) {
                if (record[i % FIELDS].equals(wanted[i % FIELDS])) {
                    found++;
                }
            }
        }
        return found;
    }
}
