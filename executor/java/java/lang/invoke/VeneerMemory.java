package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * Simulates caches for the accesses of each thread, and counts misses by site and class. Probes of versions
 * call the methods on application threads, by {@code VeneerProbe}, before each access to a field or an
 * element. Counters of the sites count the accesses themselves.
 *
 * <p><b>The fast path</b> is an access to the line that was used last in its set of L1, on an object of the
 * site's <em>primary class</em>, which is the class of the first object that any thread accesses there. It
 * changes nothing. The slots of L1 are in the counter shard of the thread, at one offset for all
 * threads, so that the fast path needs no table. The counter after that of a site has its primary
 * class and the offset of the field.
 *
 * <p><b>Other accesses</b> count at an entry of the thread's table, one for each pair of a site and a class.
 * If the class is not the primary one, this is each access; otherwise each one that is not on the fast
 * path. Only the thread itself writes to its table and to its caches. The agent allocates them, and
 * writes the table to a file when the recording ends ({@code executor/src/data/recorder/access_tracks.rs}).
 * {@code profiles/memory/src/accesses} describes the words, and {@code profiles/memory/src/hierarchy.rs} the
 * rules of the caches.
 *
 * <p><b>Addresses are real.</b> The reference to an object is stored into an array, and read back as a
 * number. The array is in the young generation, where a store needs no barrier that costs time: it is
 * replaced after each collection. A collection may move objects, so that lines have other contents. The
 * agent then empties L1, and changes the first word of each track. The thread empties its other
 * caches at its next miss.
 *
 * <p>All sizes come from the track of the thread, because a thread may be in the middle of a miss while a
 * recording ends and another one, with other caches, begins.
 */
final class VeneerMemory {
    private VeneerMemory() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    private static final int TABLE = VeneerLayout.ACCESSES_TABLE;
    private static final int STATE = VeneerLayout.ACCESSES_STATE;
    private static final int COLLECTIONS = VeneerLayout.ACCESSES_COLLECTIONS;
    private static final int LOST = VeneerLayout.ACCESSES_LOST;
    private static final int ENTRY_SHIFT = VeneerLayout.ACCESSES_ENTRY_SHIFT;
    private static final int CACHES = VeneerLayout.ACCESSES_CACHES;
    private static final int CURVE = VeneerLayout.ACCESSES_CURVE;

    private static final int CLASS = VeneerLayout.ENTRY_CLASS;
    private static final int OFFSET = VeneerLayout.ENTRY_OFFSET;
    private static final int TYPE = VeneerLayout.ENTRY_TYPE;
    private static final int ACCESS = VeneerLayout.ENTRY_ACCESS;
    private static final int ACCESSES = VeneerLayout.ENTRY_ACCESSES;
    private static final int OBJECTS = VeneerLayout.ENTRY_OBJECTS;
    private static final int OBJECT_BYTES = VeneerLayout.ENTRY_OBJECT_BYTES;

    private static final int SHIFT = VeneerLayout.CACHE_SHIFT;
    private static final int COUNTS = VeneerLayout.CACHE_COUNTS;
    private static final int ROW = VeneerLayout.CACHE_BYTES;
    private static final int MISSES = 8;

    private static final int IS_WRITE = 1;
    private static final int IS_ALLOCATION = 2;
    /** The array of an instruction that also allocates arrays in it. */
    private static final int IS_NESTED = 4;
    /** The allocated object is no array. */
    private static final int IS_INSTANCE = 8;
    /** The class is the primary one of the site. */
    private static final int IS_PRIMARY = 16;
    /** There are no caches. */
    private static final long COUNTED = -1;
    /** The entry is that of two sites which share lines. */
    private static final int IS_SHARING = 32;
    /** The access belongs to a sampled recording. */
    private static final int IS_SAMPLED = 64;
    /** Accesses are also counted by the origin of the object. */
    private static final int BY_ORIGIN = 128;
    /** The site of an entry of two sites has this bit, which no other site has. */
    private static final long SHARING_SITE = Long.MIN_VALUE;
    /**
     * The bytes of an access are above these bits; 0 for a reference. In the entry of an allocation, its number
     * as the origin of objects.
     */
    private static final int BYTES_SHIFT = 8;
    /** Binary logarithm of the bytes of a line in whose units the writes of new arrays are counted. */
    private static final int DEFAULT_LINE_SHIFT = 6;
    /** The most entries that are compared with a site and a class. */
    private static final int MOST_PROBES = 32;
    private static final int MIX = 0x9e37_79b9;
    private static final int SITE_MIX = 0x85eb_ca6b;
    private static final long LINE_MIX = 0x9e37_79b9_7f4a_7c15L;

    /**
     * Binary logarithm of the distance of two places in {@link #holder}, in bytes. Threads do not share a
     * line.
     */
    private static final int HOLDER_SHIFT = 7;
    private static final int HOLDER_LENGTH = 257 << HOLDER_SHIFT - 2;
    private static final long FIRST_REFERENCE = VeneerTexts.base(Object[].class);
    private static final long FIRST_LONG = VeneerTexts.base(long[].class);
    private static final long FIRST_INT = VeneerTexts.base(int[].class);
    private static final long REFERENCE_BYTES = U.arrayIndexScale(Object[].class);

    /** The offset of the first element of arrays of a class: it depends on the alignment of the elements. */
    private static long base(Class<?> type) {
        boolean isPrimitive = type.getComponentType().isPrimitive();
        return !isPrimitive ? FIRST_REFERENCE : U.arrayIndexScale(type) == 8 ? FIRST_LONG : FIRST_INT;
    }

    /** The address of the word that is 0 outside the windows of a sampled recording. */
    private static long window;

    /**
     * 0 outside the windows of a sampled recording; an odd number while the caches of a window fill. See
     * {@code executor/src/data/recorder/recording_windows.rs}.
     */
    @ForceInline
    static int state() {
        long window = VeneerMemory.window;
        return window == 0 ? 0 : U.getInt(null, window);
    }

    /** As {@link VeneerRuntime#shardInWindow}, in a window. */
    @DontInline
    static long shardInWindow() {
        long shard = VeneerRuntime.shard();
        int state = state();
        return shard <= 0 || state == 0 ? 0 : (state & 1) != 0 ? -shard : shard;
    }

    /** The number of the recording, which is negative; 0 if there is none. */
    private static int recording;
    /** The address of the number of collections. */
    private static long collections;
    private static int mask;
    /** The address of the lines that threads share; 0 if they are not recorded. */
    private static long lines;
    /** The offset of the slots of L1 in a counter shard; 0 if they are in the state of the thread. */
    private static long l1Slots;

    /**
     * An array of references, in which each thread has a place. The type is {@code Object}, because the
     * compiler would not read an element of a known array of references as a number. There is always one:
     * versions run before the recording begins, and after it has ended.
     */
    private static Object holder = new Object[HOLDER_LENGTH];
    /** The number of collections when {@link #holder} was allocated. */
    private static long holderAge;
    /** The form of a reference that is an address. */
    private static final int UNCOMPRESSED = 1;
    /** The form of a compressed reference, to which the number of bits is added by which it is shifted. */
    private static final int COMPRESSED = 2;
    /** The form of the references of this JVM. */
    @Stable private static int referenceForm;
    /**
     * The offset of the word of an object that has the number of its class. It is no constant, because the
     * compiler would not read the word of a class as a number.
     */
    private static long classOffset;
    private static int classShift;

    /**
     * Begins a recording. {@code description} is the address of the caches; the agent neither changes nor
     * frees them during the recording.
     */
    static void begin(int number, long description) {
        collections = U.getLong(description + VeneerLayout.CACHES_COLLECTIONS);
        mask = (int) U.getLong(description + VeneerLayout.CACHES_TABLE_MASK);
        lines = U.getLong(description + VeneerLayout.CACHES_LINES);
        l1Slots = U.getLong(description + VeneerLayout.CACHES_L1_SLOTS);
        window = U.getLong(description + VeneerLayout.CACHES_WINDOW);
        holder = new Object[HOLDER_LENGTH];
        recording = number;
    }

    /** Ends the recording. A thread that is just recording an access may finish it. */
    static void end() {
        recording = 0;
        window = 0;
        // The array may still be used, so there must be one.
        holder = new Object[HOLDER_LENGTH];
    }

    /** Finds out how this JVM represents references and classes, before a version needs it. */
    static void prepare() {
        // Without a word for the class, the class is in the upper bits of the first word.
        boolean isCompact = FIRST_INT == 12;
        classOffset = isCompact ? 4 : 8;
        classShift = isCompact ? 10 : 0;
        referenceForm = REFERENCE_BYTES == 8 ? UNCOMPRESSED : COMPRESSED + compressedShift();
    }

    /**
     * Two new arrays are mostly neighbours, so the distance of their references shows the unit. It is a byte
     * in a small heap, and otherwise the alignment of objects.
     */
    private static int compressedShift() {
        Object[] some = new Object[64];
        for (int i = 0; i < some.length; i++) {
            some[i] = new long[8];
        }
        Object words = some;
        int best = 3;
        int most = 0;
        for (int shift = 0; shift <= 8; shift++) {
            int unit = Math.max(8, 1 << shift);
            int bytes = (int) FIRST_LONG + 64 + unit - 1 & -unit;
            int found = 0;
            for (int i = 1; i < some.length; i++) {
                long at = FIRST_REFERENCE + 4L * i;
                found += U.getInt(words, at) - U.getInt(words, at - 4) << shift == bytes ? 1 : 0;
            }
            if (found > most) {
                most = found;
                best = shift;
            }
        }
        return best;
    }

    /** The address of the caches of a thread, which the agent has described and never frees. */
    static long caches(long track) {
        return U.getLong(track + CACHES);
    }

    static long rows(long caches, int description) {
        return caches + VeneerLayout.CACHES_HEAD + (long) description * VeneerLayout.CACHES_DESCRIPTION;
    }

    static long levels(long rows) {
        return U.getLong(rows + VeneerLayout.CACHES_LEVELS);
    }

    /** Opens the table of the current thread. Returns its track, or 0 if there is none. */
    private static native long open(long shard, int number, long tid, String name, String group);

    /** The number of the name of a type. */
    private static native int type(String name);

    /** The size of an object. */
    private static native long size(Object o);

    /** The number of a site as the origin of objects; 0 if there are too many. */
    private static native int origin(long site);

    /** The primary class of a site: this one, if there is none yet. */
    private static native int primary(long site, int type);

    /**
     * An access to an instance field. The names of the field and of its class are strings.
     *
     * @param own the offset in the shard of the word with the primary class
     * @param l1 the form of L1: see {@link #isHit}; -1 if there are no caches
     */
    static void field(
            Object o, long shard, long own, long site, long access, long l1, Object owner, Object name) {
        if (o == null || shard <= 0) {
            return;
        }
        if ((access & BY_ORIGIN) != 0) {
            byOrigin(o, 0, shard, site, access, owner, name);
            return;
        }
        int type = U.getInt(o, classOffset) >>> classShift;
        long known = U.getLong(shard + own);
        if ((int) (known >>> 32) != type) {
            otherClass(o, 0, shard, own, site, access, type, owner, name);
        } else if (l1 != COUNTED) {
            long address = address(o, shard) + (int) known;
            if (!isHit(address, shard, access, l1)) {
                miss(o, address, shard, site, access, l1, type, owner, name);
            }
        }
    }

    /** An access to an element of an array of references or bytes, which may be of several classes. */
    static void element(Object array, int index, long shard, long own, long site, long access, long l1) {
        if (array == null || shard <= 0 || Integer.compareUnsigned(index, length(array)) >= 0) {
            return;
        }
        if ((access & BY_ORIGIN) != 0) {
            elementByOrigin(array, index, shard, site, access);
            return;
        }
        Object all = holder;
        long place = place(shard);
        U.putReference(all, place, array);
        // The compiler knows that the object is an array, and would not read its first words as numbers. It
        // knows nothing of the same object that it reads back.
        int type = U.getInt(U.getReference(all, place), classOffset) >>> classShift;
        long known = U.getLong(shard + own);
        long at = index * ((access >>> BYTES_SHIFT) == 0 ? REFERENCE_BYTES : 1);
        if ((int) (known >>> 32) != type) {
            otherClass(array, at, shard, own, site, access, type, null, null);
        } else if (l1 != COUNTED) {
            long address = addressAt(all, place) + (int) known + at;
            if (!isHit(address, shard, access, l1)) {
                miss(array, address, shard, site, access, l1, type, null, null);
            }
        }
    }

    /** An access to an element of an array whose class is known from the code. */
    static void knownElement(Object array, int index, long shard, long site, long access, long l1) {
        if (array == null || shard <= 0 || Integer.compareUnsigned(index, length(array)) >= 0) {
            return;
        }
        if ((access & BY_ORIGIN) != 0) {
            elementByOrigin(array, index, shard, site, access);
            return;
        }
        long bytes = access >>> BYTES_SHIFT;
        long first = bytes == 0 ? FIRST_REFERENCE : bytes == 8 ? FIRST_LONG : FIRST_INT;
        long address = address(array, shard) + first + index * (bytes == 0 ? REFERENCE_BYTES : bytes);
        if (!isHit(address, shard, access, l1)) {
            miss(array, address, shard, site, access, l1, 0, null, null);
        }
    }

    /**
     * An access to a static field. The simulated address is not that of the field: it is made of a hash of
     * the class, so that the fields of a class are neighbours.
     */
    static void staticField(long shard, long site, long access, long l1, long address, Object owner) {
        if (shard > 0 && !isHit(address, shard, access, l1)) {
            miss(null, address, shard, site, access, l1, 0, owner, null);
        }
    }

    // ---- accesses by the origin of objects -----------------------------------------------------

    private static void elementByOrigin(Object array, int index, long shard, long site, long access) {
        long bytes = access >>> BYTES_SHIFT;
        byOrigin(array, index * (bytes == 0 ? REFERENCE_BYTES : bytes), shard, site, access, null, null);
    }

    /**
     * Counts an access at the entry of a site, a class and an origin. The number of the class in the entry is
     * one of both: two pairs have the same one with a probability of 2⁻³².
     *
     * @param at the offset of an element from the first one; 0 for a field
     */
    @DontInline
    private static void byOrigin(
            Object o, long at, long shard, long site, long access, Object owner, Object name) {
        long track = track(shard);
        if (track == 0) {
            return;
        }
        Object all = holder;
        long place = place(shard);
        U.putReference(all, place, o);
        // The compiler knows nothing of the class of the same object that it reads back.
        Object same = U.getReference(all, place);
        int type = U.getInt(same, classOffset) >>> classShift;
        int origin = VeneerOrigins.origin(same);
        int key = type ^ origin * MIX;
        long entry = entry(track, site, key);
        if (U.getLong(entry) != site || U.getInt(entry + CLASS) != key) {
            entry = find(track, site, key, o, (int) access, owner, name);
            if (U.getLong(entry) == site) {
                U.putLong(entry + OBJECTS, origin);
            }
        }
        VeneerCaches.add(entry + ACCESSES, 1);
        long address = addressAt(all, place) + U.getInt(entry + OFFSET) + at;
        VeneerCaches.simulate(track, shard, entry, address, (access & IS_WRITE) != 0);
        share(track, shard, site, access, address);
    }

    // ---- accesses in the windows of a sampled recording -----------------------------------------
    //
    // They are not inlined: the code outside the windows must stay small. A negative shard is one whose caches
    // fill.

    /** Whether an access belongs to a sampled recording. */
    @ForceInline
    static boolean isSampled(long access) {
        return (access & IS_SAMPLED) != 0;
    }

    @DontInline
    static void sampledField(
            Object o, long shard, long own, long site, long access, long l1, Object owner, Object name) {
        field(o, Math.abs(shard), own, site, access, l1, owner, name);
    }

    @DontInline
    static void sampledElement(Object array, int index, long shard, long own, long site, long access, long l1) {
        element(array, index, Math.abs(shard), own, site, access, l1);
    }

    @DontInline
    static void sampledKnownElement(Object array, int index, long shard, long site, long access, long l1) {
        knownElement(array, index, Math.abs(shard), site, access, l1);
    }

    @DontInline
    static void sampledStaticField(long shard, long site, long access, long l1, long address, Object owner) {
        staticField(Math.abs(shard), site, access, l1, address, owner);
    }

    /**
     * Whether the line of an access is the first one of its set in L1, which then stays as it is.
     *
     * @param l1 from the lowest bit on: the offset of L1 in the shard (32 bits), the binary logarithms of the
     *     bytes of a line (8) and of the number of sets (8), and the bytes of the slots of a set (16); 0 if
     *     each access must be simulated
     */
    @ForceInline
    private static boolean isHit(long address, long shard, long access, long l1) {
        if (l1 == 0) {
            return false;
        }
        long line = line(address, l1);
        long slot = U.getLong(set(shard, line, l1));
        return (access & IS_WRITE) == 0 ? slot >>> 1 == line : slot == (line << 1 | 1);
    }

    /** The number of the line of L1, plus 1. */
    @ForceInline
    private static long line(long address, long l1) {
        return (address >>> (int) (l1 >>> 32 & 255)) + 1;
    }

    /** The address of the first slot of the set of a line of L1. */
    @ForceInline
    private static long set(long shard, long line, long l1) {
        long set = line - 1 & (1L << (int) (l1 >>> 40 & 255)) - 1;
        return shard + (l1 & 0xffff_ffffL) + set * (l1 >>> 48);
    }

    /** An access that is not on the fast path, to an object of the primary class. */
    @DontInline
    private static void miss(
            Object o, long address, long shard, long site, long access, long l1, int type, Object owner, Object name) {
        // An activation can be in a version of an earlier recording.
        if (recording == 0 || l1 != 0 && (l1 & 0xffff_ffffL) != l1Slots) {
            return;
        }
        boolean isWrite = (access & IS_WRITE) != 0;
        if (l1 == 0) {
            long track = track(shard);
            if (track != 0) {
                long entry = primaryEntry(track, site, access, type, o, owner, name);
                VeneerCaches.add(entry + ACCESSES, 1);
                VeneerCaches.simulate(track, shard, entry, address, isWrite);
                share(track, shard, site, access, address);
            }
            return;
        }
        long line = line(address, l1);
        long replaced = VeneerCaches.reference(set(shard, line, l1), (int) (l1 >>> 51), line, isWrite ? 1 : 0);
        // The counter of the site counts the access, so a hit needs no entry.
        if (replaced != VeneerCaches.HIT) {
            missL1(o, replaced, line - 1, shard, site, access, type, owner, name);
        }
    }

    /** An access that has missed L1, and whose line has replaced another one there. */
    private static void missL1(
            Object o, long replaced, long line, long shard, long site, long access, int type, Object owner, Object name) {
        long track = track(shard);
        if (track == 0) {
            return;
        }
        long entry = primaryEntry(track, site, access, type, o, owner, name);
        VeneerCaches.add(entry + ACCESSES, 1);
        missed(track, entry, line, replaced);
    }

    /** A line of L1 is missing, and has replaced another one. */
    private static void missed(long track, long entry, long line, long replaced) {
        long row = rows(caches(track), 0);
        VeneerCaches.add(entry + U.getLong(row + COUNTS) + MISSES, 1);
        VeneerCaches.fetch(row, row + levels(row) * ROW, U.getLong(track + STATE), entry, line, replaced, true);
    }

    @ForceInline
    private static long primaryEntry(
            long track, long site, long access, int type, Object o, Object owner, Object name) {
        if (fills()) {
            return uncounted(track);
        }
        long entry = entry(track, site, type);
        return U.getLong(entry) == site && U.getInt(entry + CLASS) == type
                ? entry
                : find(track, site, type, o, (int) access | IS_PRIMARY, owner, name);
    }

    /** An access to an object of a class that is not yet known as the primary one, or is another one. */
    @DontInline
    private static void otherClass(
            Object o, long at, long shard, long own, long site, long access, int type, Object owner, Object name) {
        long track = track(shard);
        if (track == 0) {
            return;
        }
        boolean isPrimary = U.getLong(shard + own) == 0 && primary(site, type) == type;
        long entry = entry(track, site, type);
        if (U.getLong(entry) != site || U.getInt(entry + CLASS) != type) {
            entry = find(track, site, type, o, (int) access | (isPrimary ? IS_PRIMARY : 0), owner, name);
        }
        long offset = U.getInt(entry + OFFSET);
        if (isPrimary && U.getLong(entry) == site) {
            U.putLong(shard + own, (long) type << 32 | offset);
        }
        if (fills()) {
            entry = uncounted(track);
        }
        VeneerCaches.add(entry + ACCESSES, 1);
        long address = address(o, shard) + offset + at;
        VeneerCaches.simulate(track, shard, entry, address, (access & IS_WRITE) != 0);
        share(track, shard, site, access, address);
    }

    /** Whether the caches of a window of a sampled recording are being filled. */
    @ForceInline
    private static boolean fills() {
        return (state() & 1) != 0;
    }

    /** The entry for what is not counted. */
    private static long uncounted(long track) {
        return U.getLong(track + TABLE) + ((long) mask + 2 << U.getLong(track + ENTRY_SHIFT));
    }

    /** The track of a thread in the current recording; 0 if there is none. */
    @ForceInline
    private static long track(long shard) {
        int number = recording;
        if (number == 0) {
            return 0;
        }
        long track = VeneerTrace.track(shard);
        return U.getLong(track) == number ? track : opened(shard, number);
    }

    /** An object that the current thread has just allocated, and whose lines the JVM has cleared. */
    static void allocated(Object o, long mine, long site, long access, long l1) {
        long shard = isSampled(access) ? Math.abs(mine) : mine;
        if (o != null && shard > 0) {
            long track = track(shard);
            if (track != 0) {
                allocated(o, shard, site, (int) access, l1, track);
            }
        }
    }

    private static void allocated(Object o, long shard, long site, int access, long l1, long track) {
        int type = (access & IS_NESTED) == 0 ? 0 : typeOfArray(o);
        long entry = entry(track, site, type);
        if (U.getLong(entry) != site || U.getInt(entry + CLASS) != type) {
            entry = find(track, site, type, o, access, null, null);
        }
        // An instance has its size in place of the offset of the first element.
        long offset = U.getInt(entry + OFFSET);
        long bytes = (access & IS_INSTANCE) != 0 ? offset : bytes(o, offset);
        if (fills()) {
            entry = uncounted(track);
        }
        VeneerCaches.add(entry + OBJECTS, 1);
        VeneerCaches.add(entry + OBJECT_BYTES, bytes);
        long address = address(o, shard);
        if ((access & BY_ORIGIN) != 0) {
            long seed = address ^ U.getLong(entry + OBJECTS) << 48;
            VeneerOrigins.stamp(o, U.getInt(entry + ACCESS) >>> BYTES_SHIFT, seed);
        }
        clearLines(address, bytes, shard, l1, track, entry);
        if ((access & IS_NESTED) != 0 && o instanceof Object[] arrays) {
            for (Object inner : arrays) {
                if (inner != null) {
                    allocated(inner, shard, site, access, l1, track);
                }
            }
        }
    }

    /** Simulates a write to each line of a new object. */
    private static void clearLines(long address, long bytes, long shard, long l1, long track, long entry) {
        boolean isInShard = l1 != 0 && l1 != COUNTED;
        if (isInShard && (l1 & 0xffff_ffffL) != l1Slots) {
            return;
        }
        long row = rows(caches(track), 0);
        int shift = U.getLong(caches(track) + VeneerLayout.CACHES_COUNT) == 0
                ? DEFAULT_LINE_SHIFT
                : (int) U.getLong(row + SHIFT);
        long first = address >>> shift;
        int lines = (int) ((address + bytes - 1 >>> shift) - first) + 1;
        VeneerCaches.add(entry + ACCESSES, lines);
        for (int i = 0; i < lines; i++) {
            long line = first + i;
            if (!isInShard) {
                VeneerCaches.simulate(track, shard, entry, Math.max(line << shift, address), true);
                continue;
            }
            long replaced = VeneerCaches.reference(set(shard, line + 1, l1), (int) (l1 >>> 51), line + 1, 1);
            if (replaced != VeneerCaches.HIT) {
                missed(track, entry, line, replaced);
            }
        }
    }

    /**
     * A number for the class of an array: two classes have the same one with a probability of 2⁻²⁵ or less.
     * The compiler knows that the object is an array, and would not read its first words as numbers.
     */
    @ForceInline
    private static int typeOfArray(Object array) {
        return System.identityHashCode(array.getClass());
    }

    /** The size of an array whose first element is at an offset. */
    private static long bytes(Object array, long offset) {
        long bytes = offset + (long) length(array) * U.arrayIndexScale(array.getClass());
        return bytes + 7 & -8;
    }

    private static int length(Object array) {
        return java.lang.reflect.Array.getLength(array);
    }

    @ForceInline
    private static long entry(long track, long site, int type) {
        return U.getLong(track + TABLE) + ((long) (hash(site, type) & mask) << U.getLong(track + ENTRY_SHIFT));
    }

    @ForceInline
    private static int hash(long site, int type) {
        // The numbers of the sites of a method are neighbours.
        return (int) site * SITE_MIX + type * MIX >>> 8;
    }

    @ForceInline
    private static long address(Object o, long shard) {
        Object all = holder;
        long place = place(shard);
        U.putReference(all, place, o);
        return addressAt(all, place);
    }

    /** The offset of the place of a thread in {@link #holder}. */
    @ForceInline
    private static long place(long shard) {
        return FIRST_REFERENCE + ((shard >>> VeneerLayout.SHARD_SHIFT & 255) << HOLDER_SHIFT);
    }

    /** The address of the object at a place. */
    @ForceInline
    private static long addressAt(Object all, long place) {
        int form = referenceForm;
        return form == UNCOMPRESSED
                ? U.getLong(all, place)
                : (U.getInt(all, place) & 0xffff_ffffL) << form - COMPRESSED;
    }

    /** Opens the track of a thread, or empties its caches after a collection. */
    @DontInline
    private static long opened(long shard, int number) {
        long track = VeneerTrace.track(shard);
        long state = U.getLong(track);
        if (state == -(long) number) {
            return 0;
        }
        long age = U.getLong(collections);
        if (age != holderAge) {
            holderAge = age;
            holder = new Object[HOLDER_LENGTH];
            if (lines != 0) {
                U.setMemory(lines, VeneerLayout.LINES << VeneerLayout.LINE_SHIFT, (byte) 0);
            }
        }
        if (state == ((long) number << 32 | 1)) {
            if (U.getLong(track + CURVE) != 0) {
                VeneerCurve.moved(shard);
            }
            U.setMemory(U.getLong(track + STATE), U.getLong(caches(track) + VeneerLayout.CACHES_STATE_BYTES), (byte) 0);
            VeneerCaches.add(track + COLLECTIONS, 1);
            U.putLong(track, number);
            return track;
        }
        // These methods are final, so no code of the application runs.
        Thread thread = Thread.currentThread();
        ThreadGroup group = thread.getThreadGroup();
        return open(shard, number, U.getLong(thread, TID), thread.getName(), group == null ? "" : group.getName());
    }

    /** Finds or adds the entry of a site and a class. If there is no room, the last entry has the access. */
    @DontInline
    private static long find(long track, long site, int type, Object o, int access, Object owner, Object name) {
        long table = U.getLong(track + TABLE);
        int shift = (int) U.getLong(track + ENTRY_SHIFT);
        int at = hash(site, type) & mask;
        for (int probes = 0; probes < MOST_PROBES; probes++) {
            long entry = table + ((long) at << shift);
            long known = U.getLong(entry);
            if (known == site && U.getInt(entry + CLASS) == type) {
                return entry;
            }
            if (known == 0) {
                try {
                    fill(entry, site, o, access, owner, name);
                } catch (Throwable e) {
                    // There is no memory for a name.
                    break;
                }
                U.putInt(entry + CLASS, type);
                U.putLong(entry, site);
                return entry;
            }
            at = at + 1 & mask;
        }
        VeneerCaches.add(track + LOST, 1);
        return table + ((long) mask + 1 << shift);
    }

    private static void fill(long entry, long site, Object o, int access, Object owner, Object name) {
        int bytes = access >>> BYTES_SHIFT;
        int known = access & (IS_WRITE | IS_ALLOCATION | IS_PRIMARY | IS_SHARING | BY_ORIGIN);
        boolean isOrigin = (access & (IS_ALLOCATION | BY_ORIGIN)) == (IS_ALLOCATION | BY_ORIGIN);
        int above = isOrigin ? origin(site) : bytes == 0 ? (int) REFERENCE_BYTES : bytes;
        U.putInt(entry + ACCESS, known | above << BYTES_SHIFT);
        U.putInt(entry + TYPE, type(o == null ? (String) owner : o.getClass().getTypeName()));
        boolean isInstance = (access & IS_INSTANCE) != 0;
        U.putInt(entry + OFFSET, o == null ? 0 : isInstance ? (int) size(o) : offset(o, (String) owner, (String) name));
    }

    /** The offset of a field, or of the first element of an array. */
    private static int offset(Object o, String owner, String name) {
        if (owner == null) {
            return (int) base(o.getClass());
        }
        Class<?> type = o.getClass();
        while (type != null && !type.getName().equals(owner)) {
            type = type.getSuperclass();
        }
        for (type = type == null ? o.getClass() : type; type != null; type = type.getSuperclass()) {
            try {
                return (int) U.objectFieldOffset(type, name);
            } catch (InternalError e) {
                // A superclass declares the field.
            }
        }
        return 0;
    }

    // ---- lines that threads share ---------------------------------------------------------------

    /**
     * Finds out whether another thread has written to the line since the last access of this one, whose copy
     * of the line is invalid then. The sharing is true if the thread accesses a written byte, and false if
     * only neighbours were written. A line is at one place of a table. Threads change it without a lock, so
     * that counts are not exact.
     */
    private static void share(long track, long shard, long site, long access, long address) {
        if (lines == 0) {
            return;
        }
        long line = (address >>> VeneerLayout.LINE_SHIFT) + 1;
        long at = lines + ((line * LINE_MIX >>> 40 & VeneerLayout.LINES - 1) << VeneerLayout.LINE_SHIFT);
        if (U.getLong(at) != line) {
            U.setMemory(at, 1L << VeneerLayout.LINE_SHIFT, (byte) 0);
            U.putLong(at, line);
        }
        long known = access >>> BYTES_SHIFT;
        long bytes = (1L << (known == 0 ? REFERENCE_BYTES : known)) - 1 << (address & 63);
        long me = 1L << (shard >>> VeneerLayout.SHARD_SHIFT & 63);
        long valid = U.getLong(at + VeneerLayout.LINE_VALID);
        if ((valid & me) == 0) {
            long seen = U.getLong(at + VeneerLayout.LINE_SEEN);
            if ((seen & me) == 0) {
                U.putLong(at + VeneerLayout.LINE_SEEN, seen | me);
            } else {
                boolean isTrue = (U.getLong(at + VeneerLayout.LINE_WRITTEN) & bytes) != 0;
                invalid(track, site, U.getLong(at + VeneerLayout.LINE_SITE), isTrue);
            }
            valid |= me;
            U.putLong(at + VeneerLayout.LINE_VALID, valid);
        }
        if ((access & IS_WRITE) != 0) {
            boolean isOwner = valid == me && U.getLong(at + VeneerLayout.LINE_WRITER) == me;
            long written = isOwner ? U.getLong(at + VeneerLayout.LINE_WRITTEN) : 0;
            U.putLong(at + VeneerLayout.LINE_VALID, me);
            U.putLong(at + VeneerLayout.LINE_WRITER, me);
            U.putLong(at + VeneerLayout.LINE_WRITTEN, written | bytes);
            U.putLong(at + VeneerLayout.LINE_SITE, site);
        }
    }

    /** Counts an access that found its line written by another thread at a site. */
    private static void invalid(long track, long site, long writer, boolean isTrue) {
        int type = (int) (writer ^ writer >>> 32);
        long entry = find(track, site | SHARING_SITE, type, null, IS_SHARING, "", null);
        U.putLong(entry + OBJECTS, writer);
        VeneerCaches.add(entry + (isTrue ? ACCESSES : OBJECT_BYTES), 1);
    }
}
