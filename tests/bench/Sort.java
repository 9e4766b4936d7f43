import java.util.Random;

/**
 * A small database of addresses in memory, like {@code _209_db} of SPECjvm98: records of strings,
 * which are sorted by one field after the other, searched and changed. Nearly all of its time is
 * spent in the loops of a shell sort and of a search; there are few calls.
 *
 * <p>Arguments: the number of records.
 */
public final class Sort implements Work {
    private static final int FIELDS = 6;
    private final String[][] records;
    private final String[] wanted;

    public Sort(String[] args) {
        Random random = new Random(209);
        records = new String[Integer.parseInt(args[0])][FIELDS];
        for (String[] record : records) {
            for (int field = 0; field < FIELDS; field++) {
                StringBuilder text = new StringBuilder();
                for (int i = 3 + random.nextInt(9); i > 0; i--) {
                    text.append((char) ('a' + random.nextInt(26)));
                }
                record[field] = text.toString();
            }
        }
        wanted = new String[8];
        for (int i = 0; i < wanted.length; i++) {
            wanted[i] = records[random.nextInt(records.length)][i % FIELDS];
        }
    }

    @Override
    public long round() {
        int[] index = new int[records.length];
        long sum = 0;
        for (int field = 0; field < FIELDS; field++) {
            for (int i = 0; i < index.length; i++) {
                index[i] = i;
            }
            sort(index, field);
            for (int i = 0; i < index.length; i++) {
                sum = sum * 31 + index[i];
            }
        }
        for (int i = 0; i < wanted.length; i++) {
            sum = sum * 31 + find(wanted[i], i % FIELDS);
        }
        return sum;
    }

    /** Sorts record numbers by a field with Shell's algorithm; ties are sorted by number. */
    private void sort(int[] index, int field) {
        int count = index.length;
        int gap = 1;
        while (gap < count / 3) {
            gap = 3 * gap + 1;
        }
        for (; gap > 0; gap /= 3) {
            for (int i = gap; i < count; i++) {
                int moved = index[i];
                String key = records[moved][field];
                int place = i;
                while (place >= gap) {
                    int other = index[place - gap];
                    int order = records[other][field].compareTo(key);
                    if (order < 0 || order == 0 && other < moved) {
                        break;
                    }
                    index[place] = other;
                    place -= gap;
                }
                index[place] = moved;
            }
        }
    }

    /** Returns the sum of the numbers of all records with this text in a field. */
    private long find(String text, int field) {
        long found = 0;
        for (int i = 0; i < records.length; i++) {
            String[] record = records[i];
            if (record[field].length() == text.length() && record[field].equals(text)) {
                found += i;
            }
        }
        return found;
    }
}
