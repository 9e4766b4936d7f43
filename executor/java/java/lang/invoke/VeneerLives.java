package java.lang.invoke;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The lives of objects: {@code object_born}, {@code object_constructed} and {@code object_used} in
 * plans.
 *
 * <pre>
 *   birth ─▶ entry (weak reference) ─▶ use ─▶ use ─▶ the collector clears the reference ─▶ row of site and class
 *            in a bucket by identity hash     stamps of the clocks                         counts and histograms
 * </pre>
 *
 * <p>The clocks are words outside the heap, which the agent owns ({@code executor/src/data/lifetime_recorder.rs}):
 * the bytes of followed objects, the uses of followed objects, and the time, which the agent writes at
 * short intervals. At the end of each collection the agent copies the clocks: an object that the
 * collection has found dead died at that moment.
 *
 * <p>Application threads call {@code born} and {@code used}. They take no lock: a bucket is a list that
 * grows at its beginning. Only {@code fold} removes entries, under the lock of the class, in threads of the
 * agent. The number of entries is limited; further objects are counted as untracked.
 */
final class VeneerLives {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long BYTES = VeneerLayout.LIVES_BYTES;
    private static final long ACCESSES = VeneerLayout.LIVES_ACCESSES;
    private static final long COLLECTIONS = VeneerLayout.LIVES_COLLECTIONS;
    private static final long LATEST = VeneerLayout.LIVES_LATEST;
    private static final long BUFFER = VeneerLayout.LIVES_BUFFER;
    private static final int CLOCKS = VeneerLayout.LIVES_CLOCKS;
    private static final int SPANS = VeneerLayout.LIVES_SPANS;
    private static final int ROW_WORDS = VeneerLayout.LIVES_ROW_WORDS;
    /** The number of counts of a histogram: one for 0, and one for each length in bits. */
    private static final int LENGTHS = 65;

    // In a row: the objects that have died or were alive at the end, those that were never used, those that
    // were alive, the size of an object. The histograms follow: use, drag and life, each on all clocks,
    // and the collections survived.
    private static final int OBJECTS = 0;
    private static final int VOID = 1;
    private static final int ALIVE = 2;
    private static final int SIZE = 3;
    private static final int USED = SPANS;
    private static final int DRAG = USED + CLOCKS * LENGTHS;
    private static final int LIFE = DRAG + CLOCKS * LENGTHS;
    private static final int SURVIVED = LIFE + CLOCKS * LENGTHS;

    /** The most rows, and the most classes. The last row is for all sites beyond this. */
    private static final int ROWS = 1 << 12;
    private static final int ROW_INDEX = 2 * ROWS;
    private static final int CLASS_INDEX = 1 << 11;
    private static final int MAX_CLASSES = CLASS_INDEX / 2;
    /** The heap has this many bytes for each followed object, so that entries fill a tenth of it. */
    private static final int HEAP_PER_OBJECT = 1 << 10;
    private static final int MIN_OBJECTS = 1 << 10;
    /** The number of births between two looks at the room on the heap, a power of two. */
    private static final int BIRTHS_PER_LOOK = 64;

    private static final long OBJECTS_BASE = VeneerTexts.base(VeneerLife[].class);
    private static final long INTS_BASE = VeneerTexts.base(int[].class);

    /** The current recording; null if there is none. */
    private static volatile VeneerLives current;
    /** The class of the first followed object. */
    private static Class<?> first;

    /** The heads of the buckets. */
    private final VeneerLife[] buckets;
    private final ReferenceQueue<Object> dead = new ReferenceQueue<>();
    /** The classes of followed objects, by identity hash. */
    private final Class<?>[] classes = new Class<?>[CLASS_INDEX];
    private final String[] sites = new String[ROWS];
    private final String[] types = new String[ROWS];
    private final long[][] rows = new long[ROWS][];
    /** The numbers of rows plus 1, by the hash of site and class. */
    private final int[] rowIndex = new int[ROW_INDEX];
    private final int limit;
    private final long words;
    private final long time;
    private int classCount;
    private int rowCount;
    private int births;
    private boolean hasRoom = true;
    /** Whether ends of constructors are told. They then count the objects that are not followed. */
    private boolean hasConstructors;
    private volatile int entries;
    private volatile long untracked;
    private static final long ENTRIES = U.objectFieldOffset(VeneerLives.class, "entries");
    private static final long UNTRACKED = U.objectFieldOffset(VeneerLives.class, "untracked");

    private VeneerLives(long words, long time, int limit) {
        this.words = words;
        this.time = time;
        this.limit = limit;
        buckets = new VeneerLife[Integer.highestOneBit(limit - 1) << 1];
    }

    /** The size of an object on the heap. */
    private static native long size(Object object);

    /** Hands a row over, whose words are in the buffer. */
    private static native void row(String site, String type);

    // ---- for the agent --------------------------------------------------------------------------

    /**
     * Begins to follow at most {@code most} objects at a time. {@code words} are the words of the
     * clocks, {@code time} is the address of the time. Returns the number of objects for which the
     * heap has room; 0 if it has none.
     */
    static synchronized long begin(long words, long time, long most) {
        long fit = Math.min(most, Runtime.getRuntime().maxMemory() / HEAP_PER_OBJECT);
        if (!VeneerHeap.hasRoom()) {
            return 0;
        }
        first = null;
        current = new VeneerLives(words, time, (int) Math.max(fit, MIN_OBJECTS));
        return current.limit;
    }

    /** Adds the objects that have died to their rows. */
    static synchronized void fold() {
        VeneerLives lives = current;
        if (lives != null) {
            lives.foldDead();
        }
    }

    private void foldDead() {
        for (Reference<?> one; (one = dead.poll()) != null; ) {
            VeneerLife life = (VeneerLife) one;
            remove(life);
            addDead(life);
            U.getAndAddInt(this, ENTRIES, -1);
        }
    }

    /**
     * Ends all lives that are followed, hands all rows over, and drops everything. Returns the number of
     * objects that were not followed.
     */
    static synchronized long end() {
        VeneerLives lives = current;
        forget();
        return lives == null ? 0 : lives.finish();
    }

    private long finish() {
        foldDead();
        for (VeneerLife bucket : buckets) {
            for (VeneerLife life = bucket; life != null; life = life.next) {
                if (life.refersTo(null)) {
                    addDead(life);
                } else {
                    addAlive(life);
                }
            }
        }
        int count;
        synchronized (sites) {
            count = rowCount;
        }
        for (int n = 0; n < count; n++) {
            for (int w = 0; w < ROW_WORDS; w++) {
                U.putLong(words + BUFFER + 8L * w, rows[n][w]);
            }
            row(sites[n], types[n]);
        }
        return untracked;
    }

    /** Drops everything. */
    static synchronized void forget() {
        current = null;
        first = null;
    }

    /** Unlinks an entry. Meanwhile, threads add entries at the beginning of its bucket. */
    private void remove(VeneerLife life) {
        VeneerLife[] table = buckets;
        long at = place(life.hash);
        while (true) {
            VeneerLife before = (VeneerLife) U.getReferenceAcquire(table, at);
            if (before == life) {
                if (U.compareAndSetReference(table, at, life, life.next)) {
                    return;
                }
                continue;
            }
            while (before != null && before.next != life) {
                before = before.next;
            }
            if (before != null) {
                before.next = life.next;
            }
            return;
        }
    }

    private void addDead(VeneerLife life) {
        long[] row = rows[life.row];
        long bytes = U.getLong(words + LATEST);
        long accesses = U.getLong(words + LATEST + 8);
        long nanos = U.getLong(words + LATEST + 16);
        long collections = U.getLong(words + LATEST + 24);
        addUse(row, life);
        boolean isVoid = life.usedAccesses == 0;
        addSpan(row, DRAG, bytes - (isVoid ? life.bornBytes : life.usedBytes),
                accesses - (isVoid ? life.bornAccesses : life.usedAccesses),
                nanos - (isVoid ? life.bornTime : life.usedTime));
        addSpan(row, LIFE, bytes - life.bornBytes, accesses - life.bornAccesses, nanos - life.bornTime);
        // The collection that found the object dead is not one that it survived.
        add(row, SURVIVED, collections - life.bornCollections - 1);
    }

    private void addAlive(VeneerLife life) {
        long[] row = rows[life.row];
        addUse(row, life);
        row[ALIVE]++;
        add(row, SURVIVED, U.getLong(words + COLLECTIONS) - life.bornCollections);
    }

    private void addUse(long[] row, VeneerLife life) {
        row[OBJECTS]++;
        if (life.usedAccesses == 0) {
            row[VOID]++;
            return;
        }
        addSpan(row, USED, life.usedBytes - life.bornBytes, life.usedAccesses - life.bornAccesses,
                life.usedTime - life.bornTime);
    }

    private static void addSpan(long[] row, int at, long bytes, long accesses, long nanos) {
        add(row, at, bytes);
        add(row, at + LENGTHS, accesses);
        add(row, at + 2 * LENGTHS, nanos);
    }

    /** Counts a number in a histogram. A clock of another thread may seem to go backwards. */
    private static void add(long[] row, int at, long number) {
        row[at + 64 - Long.numberOfLeadingZeros(Math.max(number, 0))]++;
    }

    // ---- for probes -------------------------------------------------------------------------------

    /** Notes that a new object was made at a site. Returns false if the object is not followed. */
    static boolean born(Object object, Object site) {
        VeneerLives lives = current;
        return lives != null && object != null && lives.begin(object, (String) site, !lives.hasConstructors);
    }

    /**
     * Notes the end of a constructor. The site begins with the class of the constructor and a line feed.
     * A constructor of a superclass has no effect.
     */
    static boolean constructed(Object object, Object site) {
        VeneerLives lives = current;
        if (lives == null || object == null) {
            return false;
        }
        String type = object.getClass().getName();
        String text = (String) site;
        if (!text.startsWith(type) || text.charAt(type.length()) != '\n') {
            return false;
        }
        lives.hasConstructors = true;
        return lives.begin(object, text, true);
    }

    /** Notes a use of an object. Returns false if the object is not followed. */
    @ForceInline
    static boolean used(Object object) {
        return object != null && first != null && note(object);
    }

    private static boolean note(Object object) {
        VeneerLives lives = current;
        Class<?> type = object.getClass();
        if (lives == null || type != first && !lives.isFollowed(type)) {
            return false;
        }
        VeneerLife life = lives.find(object, System.identityHashCode(object));
        if (life == null) {
            return false;
        }
        long words = lives.words;
        life.usedAccesses = U.getAndAddLong(null, words + ACCESSES, 1) + 1;
        life.usedBytes = U.getLong(words + BYTES);
        life.usedTime = U.getLong(lives.time);
        return true;
    }

    private boolean isFollowed(Class<?> type) {
        for (int at = type.hashCode();; at++) {
            Class<?> one = classes[at & CLASS_INDEX - 1];
            if (one == type || one == null) {
                return one == type;
            }
        }
    }

    private long place(int hash) {
        int index = (hash ^ hash >>> 15) & buckets.length - 1;
        return OBJECTS_BASE + (long) index * Unsafe.ARRAY_OBJECT_INDEX_SCALE;
    }

    private VeneerLife find(Object object, int hash) {
        VeneerLife life = (VeneerLife) U.getReferenceAcquire(buckets, place(hash));
        while (life != null && !(life.hash == hash && life.refersTo(object))) {
            life = life.next;
        }
        return life;
    }

    /** Begins a life, or begins it again: a constructor may end before that of a subclass does. */
    private boolean begin(Object object, String site, boolean counts) {
        int hash = System.identityHashCode(object);
        VeneerLife known = find(object, hash);
        try {
            int row = row(object, site);
            if (known != null && row >= 0) {
                known.row = row;
                known.usedAccesses = 0;
                stamp(known);
                return true;
            }
            if ((births++ & BIRTHS_PER_LOOK - 1) == 0) {
                hasRoom = VeneerHeap.hasRoom();
            }
            if (row >= 0 && hasRoom && entries < limit) {
                add(new VeneerLife(object, hash, dead), row);
                return true;
            }
        } catch (OutOfMemoryError e) {
            hasRoom = false;
        }
        if (counts) {
            U.getAndAddLong(this, UNTRACKED, 1);
        }
        return false;
    }

    private void add(VeneerLife life, int row) {
        life.row = row;
        U.getAndAddInt(this, ENTRIES, 1);
        U.getAndAddLong(null, words + BYTES, rows[row][SIZE]);
        stamp(life);
        long at = place(life.hash);
        VeneerLife head;
        do {
            head = (VeneerLife) U.getReferenceAcquire(buckets, at);
            life.next = head;
        } while (!U.compareAndSetReference(buckets, at, head, life));
    }

    private void stamp(VeneerLife life) {
        life.bornBytes = U.getLong(words + BYTES);
        life.bornAccesses = U.getLong(words + ACCESSES);
        life.bornTime = U.getLong(time);
        life.bornCollections = U.getLong(words + COLLECTIONS);
    }

    /** The number of the row of a site and the class of an object; -1 if there are too many classes. */
    private int row(Object object, String site) {
        String type = object.getClass().getName();
        for (int at = 31 * site.hashCode() + type.hashCode();; at++) {
            int row = U.getIntAcquire(rowIndex, rowPlace(at)) - 1;
            if (row < 0) {
                return addRow(object, site, type);
            }
            if (types[row].equals(type) && sites[row].equals(site)) {
                return row;
            }
        }
    }

    private static long rowPlace(int at) {
        return INTS_BASE + (long) (at & ROW_INDEX - 1) * Unsafe.ARRAY_INT_INDEX_SCALE;
    }

    /** Adds a row. Only application threads wait here for each other. */
    @DontInline
    private int addRow(Object object, String site, String type) {
        synchronized (sites) {
            if (!addClass(object.getClass())) {
                return -1;
            }
            // Beyond the limit, the sites of a class share a row.
            String kept = rowCount < ROWS - MAX_CLASSES ? site : "";
            int at = 31 * kept.hashCode() + type.hashCode();
            for (int row; (row = rowIndex[at & ROW_INDEX - 1] - 1) >= 0; at++) {
                if (types[row].equals(type) && sites[row].equals(kept)) {
                    return row;
                }
            }
            long[] counts = new long[ROW_WORDS];
            counts[SIZE] = size(object);
            sites[rowCount] = kept;
            types[rowCount] = type;
            rows[rowCount] = counts;
            rowCount++;
            U.putIntRelease(rowIndex, rowPlace(at), rowCount);
            return rowCount - 1;
        }
    }

    private boolean addClass(Class<?> type) {
        int at = type.hashCode();
        for (Class<?> one; (one = classes[at & CLASS_INDEX - 1]) != null; at++) {
            if (one == type) {
                return true;
            }
        }
        if (classCount >= MAX_CLASSES) {
            return false;
        }
        classCount++;
        classes[at & CLASS_INDEX - 1] = type;
        if (first == null) {
            first = type;
        }
        return true;
    }
}
