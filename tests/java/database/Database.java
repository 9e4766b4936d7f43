package database;

import java.util.Enumeration;
import java.util.SplittableRandom;
import java.util.Vector;

/**
 * A database of addresses in memory. Its operations are those of {@code _209_db} of SPECjvm98: add, delete, find, and
 * sort. {@code shell_sort} is written as in table 4 of the paper "Vertical Profiling of Java Applications through
 * Aspect-Oriented Dynamic Binary Instrumentation". The other methods are written from their names. The methods that the
 * paper names keep these names.
 *
 * <p>Usage: {@code database.Database ENTRIES ROUNDS}. With 0 rounds, the program prints {@code pid N} when it has read
 * the records, and runs until its standard input ends. At the end it prints {@code rounds N} and {@code checksum X}.
 * With {@code -Dtime=true}, it also prints the time of the rounds to standard error.
 */
public final class Database {
    private static final int FIELDS = 8;
    /** The numbers of operations in a round, beside one sort. */
    private static final int FINDS = 100;
    private static final int CHANGES = 4;

    private final Vector<Entry> entries = new Vector<>();
    private final SplittableRandom random = new SplittableRandom(209);
    /** The entries in the order of the field {@code fnum}, or null after a change. */
    private Entry[] index;
    private int fnum = -1;

    private Database() {}

    public static void main(String[] args) {
        Database database = new Database();
        database.read_db(Integer.parseInt(args[0]));
        long limit = Long.parseLong(args[1]);
        if (limit == 0) {
            Input.begin();
        }
        long begin = System.nanoTime();
        long checksum = 0;
        long count = 0;
        while (limit == 0 ? !Input.hasEnded() : count < limit) {
            checksum = checksum * 31 + database.round((int) (count % FIELDS));
            count++;
        }
        long nanos = System.nanoTime() - begin;
        System.out.println("rounds " + count);
        System.out.println("checksum " + Long.toHexString(checksum));
        if (Boolean.getBoolean("time")) {
            System.err.println("time " + nanos / 1_000_000 + " ms");
        }
    }

    /** Makes the records, which are the same on each run. Their order in memory is not the order of any field. */
    void read_db(int count) {
        for (int i = 0; i < count; i++) {
            entries.addElement(makeEntry());
        }
        for (int i = count - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            Entry entry = entries.elementAt(i);
            entries.setElementAt(entries.elementAt(other), i);
            entries.setElementAt(entry, other);
        }
    }

    private Entry makeEntry() {
        Entry entry = new Entry();
        for (int field = 0; field < FIELDS; field++) {
            entry.items.addElement(makeItem());
        }
        return entry;
    }

    private String makeItem() {
        char[] text = new char[4 + random.nextInt(9)];
        for (int i = 0; i < text.length; i++) {
            text[i] = (char) ('a' + random.nextInt(26));
        }
        return new String(text);
    }

    /** Sorts by one field, finds records by this field, and then deletes and adds records. */
    private long round(int field) {
        sort(field);
        long sum = order();
        for (int i = 0; i < FINDS; i++) {
            Entry wanted = index[random.nextInt(index.length)];
            sum = sum * 31 + find(field, (String) wanted.items.elementAt(field));
        }
        for (int i = 0; i < CHANGES; i++) {
            delete(copy(entries.elementAt(random.nextInt(entries.size()))));
            add(makeEntry());
        }
        return sum;
    }

    void sort(int fn) {
        if (index == null || fnum != fn) {
            shell_sort(fn);
        }
    }

    void add(Entry entry) {
        entries.addElement(entry);
        index = null;
    }

    /** Deletes the first record with the same fields. */
    void delete(Entry entry) {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.elementAt(i).equals(entry)) {
                entries.removeElementAt(i);
                index = null;
                return;
            }
        }
    }

    /** Returns the position of a record with this text in the sorted field, or -1. */
    int find(int fn, String text) {
        int low = 0;
        int high = index.length - 1;
        while (low <= high) {
            int middle = (low + high) / 2;
            String item = (String) index[middle].items.elementAt(fn);
            int order = item.compareTo(text);
            if (order == 0) {
                return middle;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }

    void set_index() {
        index = new Entry[entries.size()];
        int n = 0;
        for (Enumeration<Entry> all = entries.elements(); all.hasMoreElements(); ) {
            index[n++] = all.nextElement();
        }
        fnum = -1;
    }

    // The names of the variables and the repeated accesses to the index are those of the paper.
    void shell_sort(int fn) {
        int i, j, n, gap;
        String s1, s2;
        Entry e;

        if (index == null) set_index();
        n = index.length;

        for (gap = n / 2; gap > 0; gap /= 2)
            for (i = gap; i < n; i++)
                for (j = i - gap; j >= 0; j -= gap) {
                    s1 = (String) index[j].items.elementAt(fn); // FAULT sort
                    s2 = (String) index[j + gap].items.elementAt(fn); // FAULT sort

                    if (s1.compareTo(s2) <= 0) break;

                    e = index[j];
                    index[j] = index[j + gap];
                    index[j + gap] = e;
                }
        fnum = fn;
    }

    private static Entry copy(Entry entry) {
        Entry copy = new Entry();
        for (int i = 0; i < entry.items.size(); i++) {
            copy.items.addElement(entry.items.elementAt(i));
        }
        return copy;
    }

    /** A checksum of the sorted records. */
    private long order() {
        long sum = 0;
        for (int i = 0; i < index.length; i++) {
            sum = sum * 31 + index[i].items.elementAt(0).hashCode();
        }
        return sum;
    }
}
