/**
 * Looks up numbers in a hash map with open addressing. The map is 80 % full and has half of the numbers, so a search
 * reads eight keys on average. In the slow variant, the map has an array of references to keys. The keys of a search
 * are objects in different cache lines. In the fast variant, the map has an array of numbers, so the keys of a search
 * are in one or two lines.
 */
public final class BoxedKeys {
    private static final int CAPACITY = 1 << 21;
    private static final int SHIFT = 32 - 21;
    private static final int COUNT = CAPACITY / 5 * 4;
    private static final int LOOKUPS = 200_000;

    private BoxedKeys() {}

    static final class Box {
        final int value;

        Box(int value) {
            this.value = value;
        }
    }

    public static void main(String[] args) {
        boolean isSlow = Rounds.isSlow(args);
        BoxedMap boxedMap = new BoxedMap(isSlow ? CAPACITY : 1);
        IntMap intMap = new IntMap(isSlow ? 1 : CAPACITY);
        Box[] boxes = isSlow ? makeBoxes() : null;
        for (int number : Rounds.shuffled(COUNT)) {
            if (isSlow) {
                boxedMap.put(boxes[number], number);
            } else {
                intMap.put(key(number), number);
            }
        }
        Rounds rounds = Rounds.begin(args);
        long checksum = 0;
        while (rounds.next()) {
            int first = (int) (rounds.number() * 31 % COUNT);
            checksum = checksum * 31 + (isSlow ? lookUpBoxed(boxedMap, first) : lookUpInts(intMap, first));
        }
        rounds.end(checksum);
    }

    private static Box[] makeBoxes() {
        Box[] boxes = new Box[COUNT];
        for (int number = 0; number < COUNT; number++) {
            boxes[number] = new Box(key(number));
        }
        // A collector of young objects copies the keys in the order of the map. A full collection moves them to the
        // old generation before the map has them.
        System.gc();
        return boxes;
    }

    /** The map has the odd numbers. A key is never 0, because 0 marks a free slot of {@link IntMap}. */
    private static int key(int number) {
        return number * 2 + 1;
    }

    /** Every second key is not in the map. */
    private static int keyOfLookup(int number) {
        return number + 1;
    }

    private static int home(int key) {
        int hash = key * 0x9E3779B9;
        return (hash ^ hash >>> 15) * 0x85EBCA6B >>> SHIFT;
    }

    private static long lookUpBoxed(BoxedMap map, int first) {
        long sum = 0;
        int number = first;
        for (int i = 0; i < LOOKUPS; i++) {
            sum += map.get(keyOfLookup(number));
            number = (number + 7919) % (2 * COUNT);
        }
        return sum;
    }

    private static long lookUpInts(IntMap map, int first) {
        long sum = 0;
        int number = first;
        for (int i = 0; i < LOOKUPS; i++) {
            sum += map.get(keyOfLookup(number));
            number = (number + 7919) % (2 * COUNT);
        }
        return sum;
    }

    static final class BoxedMap {
        private final Box[] keys;
        private final long[] values;

        BoxedMap(int capacity) {
            keys = new Box[capacity];
            values = new long[capacity];
        }

        void put(Box key, long value) {
            int slot = home(key.value);
            while (keys[slot] != null) {
                slot = slot + 1 & CAPACITY - 1;
            }
            keys[slot] = key;
            values[slot] = value;
        }

        long get(int key) {
            int slot = findBoxed(keys, key);
            return slot < 0 ? -1 : values[slot];
        }
    }

    static int findBoxed(Box[] keys, int key) {
        int slot = home(key);
        Box box = keys[slot]; // ALSO boxes
        while (box != null) {
            if (box.value == key) { // FAULT boxes
                return slot;
            }
            slot = slot + 1 & CAPACITY - 1;
            box = keys[slot]; // ALSO boxes
        }
        return -1;
    }

    static final class IntMap {
        private final int[] keys;
        private final long[] values;

        IntMap(int capacity) {
            keys = new int[capacity];
            values = new long[capacity];
        }

        void put(int key, long value) {
            int slot = home(key);
            while (keys[slot] != 0) {
                slot = slot + 1 & CAPACITY - 1;
            }
            keys[slot] = key;
            values[slot] = value;
        }

        long get(int key) {
            int slot = findInt(keys, key);
            return slot < 0 ? -1 : values[slot];
        }
    }

    static int findInt(int[] keys, int key) {
        int slot = home(key);
        int found = keys[slot]; // MENDED boxes
        while (found != 0) {
            if (found == key) {
                return slot;
            }
            slot = slot + 1 & CAPACITY - 1;
            found = keys[slot]; // MENDED boxes
        }
        return -1;
    }
}
