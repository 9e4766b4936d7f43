package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Tables off the heap, into which compiled probes write on application threads. {@code
 * executor/src/data/aggregations.rs} creates the tables and reads them, with the offsets of {@link
 * VeneerLayout}.
 *
 * <p>Emitted code calls the public methods, so their names and descriptors are fixed. No method
 * takes a lock or allocates.
 */
public final class VeneerTables {
    private VeneerTables() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    // A table, in words of 8 bytes: number of places (a power of two), bytes of an entry, limit for
    // the entries, number of entries, address of the strings. From HEAD on: the rest, which is the
    // entry for everything without a place of its own, and then the places.
    //
    // An entry: state (0 free, else a hash, see VeneerPlaces), tags of the keys, KEYS keys, then the
    // values. The values are the count; for sums also the sum, the greatest and the least value;
    // for histograms also the buckets. The greatest value has its sign inverted. The least value is
    // the complement of that form. Other kinds of tables are described at their methods.
    static final int HEAD = VeneerLayout.HEAD;
    static final int VALUES = VeneerLayout.VALUES;
    /** Offset in the head: the limit for the entries. The number of entries follows. */
    private static final int LIMIT = 16;

    static final long STRINGS = VeneerLayout.STRINGS;

    /**
     * Hash of the keys of an entry. 0 and 1 are reserved for states. The hash of no keys is 2,
     * which no other keys have. {@link #slot} uses the upper bits, because the upper bits of a
     * product depend on all bits of its factors.
     */
    @ForceInline
    private static long hash(long tags, long a, long b, long c, long d) {
        // The products are independent of each other. A missing key is 0, and adds nothing.
        long sum = tags + a * 0x9E3779B97F4A7C15L + b * 0xC2B2AE3D27D4EB4FL + c * 0x165667B19E3779F9L + d * 0xD6E8FEB86659FD93L;
        return tags == 0 ? 2 : sum | 6;
    }

    /**
     * Whether a place, whose state was this hash, has these keys. {@code tags} is a constant to the
     * compiler.
     */
    @ForceInline
    static boolean has(long place, long tags, long a, long b, long c, long d) {
        return tags == 0
                || U.getLong(place + 8) == tags
                        && U.getLong(place + 16) == a
                        && (tags >>> 4 == 0 || U.getLong(place + 24) == b)
                        && (tags >>> 8 == 0 || U.getLong(place + 32) == c)
                        && (tags >>> 12 == 0 || U.getLong(place + 40) == d);
    }

    /** Writes the keys to a place that is being written. */
    @ForceInline
    static void give(long place, long tags, long a, long b, long c, long d) {
        U.putLong(place + 8, tags);
        U.putLong(place + 16, a);
        U.putLong(place + 24, b);
        U.putLong(place + 32, c);
        U.putLong(place + 40, d);
    }

    /** The index of the first place to search for a hash. {@code places} is a power of two. */
    @ForceInline
    static long slot(long hash, long places) {
        return hash >>> Long.numberOfLeadingZeros(places - 1) & places - 1;
    }

    /**
     * The number of the place with these keys, which is claimed if there is none; 0, the rest, if
     * the table is full.
     */
    @ForceInline
    private static long entry(long table, long size, long tags, long a, long b, long c, long d) {
        if (tags == TEXT_TAG) {
            // The only key is a string, whose number leads to the entry.
            long n = VeneerTexts.entry(table, a);
            return n != 0 ? n : VeneerTexts.entryIs(table, a, look(table, size, tags, a, b, c, d));
        }
        return look(table, size, tags, a, b, c, d);
    }

    @ForceInline
    private static long look(long table, long size, long tags, long a, long b, long c, long d) {
        long hash = hash(tags, a, b, c, d);
        long n = slot(hash, places(table)) + 1;
        long place = at(table) + HEAD + n * size;
        // Usually the first place is the right one. These reads are not ordered, so that the
        // compiler may keep what it knows. Keys of a place that is being written may be read as
        // zero. Zero keys with these tags match no entry, because tags are not zero.
        if (U.getLong(place) == hash && has(place, tags, a, b, c, d)) {
            return n;
        }
        return search(at(table), hash, tags, a, b, c, d);
    }

    /**
     * The address of a table. Emitted code has a constant for a table: the address, the binary
     * logarithm of the number of places in the lower six bits, and the row of {@link VeneerTexts}
     * in the upper 16 bits.
     */
    @ForceInline
    private static long at(long table) {
        return table << 16 >> 16 & -HEAD;
    }

    /** The address of the strings of a table. */
    static long strings(long table) {
        return U.getLong(at(table) + VeneerLayout.TABLE_STRINGS);
    }

    /** The number of places, a power of two. */
    @ForceInline
    private static long places(long table) {
        return 1L << (table & HEAD - 1);
    }

    /** The address of the values of a place that all threads share. */
    @ForceInline
    private static long values(long table, long size, long n) {
        return at(table) + HEAD + n * size + VALUES;
    }

    /** The number of bytes of a place. */
    @ForceInline
    private static long size(long table) {
        return U.getLong(at(table) + 8);
    }

    /**
     * The address of the current thread's own part of the values of a place, in its counter shard
     * (see {@link VeneerRuntime#known}). 0 if the thread has no shard, or the table has no room in
     * the shards. A value is the sum of all parts and of the shared values.
     */
    @ForceInline
    private static long mine(long table, long size, long n) {
        long at = U.getLong(at(table) + MINE);
        long shard = VeneerRuntime.known();
        return at < 0 || shard == 0 ? 0 : (shard < 0 ? -shard : shard) + at + n * (size - VALUES);
    }

    /**
     * Offset in the head: the offset of a thread's own values in its shard; -1 if the table has
     * none.
     */
    private static final int MINE = VeneerLayout.TABLE_PARTS;

    /** Adds to a value: to this thread's part, or, if {@code mine} is 0, to the shared value. */
    @ForceInline
    private static void plus(long mine, long all, long offset, long n) {
        if (mine != 0) {
            U.putLong(mine + offset, U.getLong(mine + offset) + n);
        } else {
            U.getAndAddLong(null, all + offset, n);
        }
    }

    /**
     * Searches the places for the keys, and claims a place if there is none. Returns as {@link
     * #entry}. If the only key is a string without room, it gets no place: the places belong to the
     * strings that have room, also if their threads come later.
     */
    private static long search(long table, long hash, long tags, long a, long b, long c, long d) {
        if (tags >>> 4 == 0 && lost(tags, a)) {
            return 0;
        }
        long places = U.getLong(table);
        long size = U.getLong(table + 8);
        long rest = table + HEAD;
        long writing = VeneerPlaces.writing(hash);
        long at = slot(hash, places);
        for (long turn = 0; turn < places; turn++, at = at + 1 & places - 1) {
            long place = rest + (at + 1) * size;
            long state = U.getLongAcquire(null, place);
            if (state == 0) {
                if (VeneerPlaces.reserve(table + LIMIT)) {
                    boolean claimed = U.compareAndSetLong(null, place, 0, writing);
                    if (claimed) {
                        write(place, hash, tags, a, b, c, d);
                    }
                    VeneerPlaces.done(table + LIMIT, claimed);
                    if (claimed) {
                        return at + 1;
                    }
                }
                // Another thread may have claimed the place.
                state = U.getLongAcquire(null, place);
                if (state == 0) {
                    return 0;
                }
            }
            if (state == writing) {
                state = VeneerPlaces.settled(place, writing);
                if (state == writing) {
                    // The other thread was stopped. It writes the same when it continues.
                    write(place, hash, tags, a, b, c, d);
                    return at + 1;
                }
            }
            if (state == hash && has(place, tags, a, b, c, d)) {
                return at + 1;
            }
        }
        return 0;
    }

    /** Writes the keys and then the state to a place that is being written. */
    private static void write(long place, long hash, long tags, long a, long b, long c, long d) {
        give(place, tags, a, b, c, d);
        U.putLongRelease(null, place, hash);
    }

    public static void count(long table, long tags, long a, long b, long c, long d) {
        long n = entry(table, VALUES + 8, tags, a, b, c, d);
        plus(mine(table, VALUES + 8, n), values(table, VALUES + 8, n), 0, 1);
    }

    public static void add(long table, long tags, long a, long b, long c, long d, long value) {
        long size = size(table);
        long n = entry(table, size, tags, a, b, c, d);
        long mine = mine(table, size, n);
        long all = values(table, size, n);
        plus(mine, all, 0, 1);
        sum(mine, all, value);
        if (size > VALUES + 32) {
            plus(mine, all, 32 + 8L * bucket(value), 1);
        }
    }

    /** Adds a value to sum, greatest and least. All threads share the greatest and the least. */
    @ForceInline
    private static void sum(long mine, long all, long value) {
        plus(mine, all, 8, value);
        // With inverted signs, zero is the least value of an unsigned comparison.
        max(all + 16, value ^ Long.MIN_VALUE);
        max(all + 24, ~(value ^ Long.MIN_VALUE));
    }

    /**
     * Adds a value to a linear histogram: the number of values below all buckets, in each bucket,
     * and above. The head has FROM, the start of the first bucket, and STEP, the width of all
     * buckets.
     */
    public static void addLinear(long table, long tags, long a, long b, long c, long d, long value) {
        long size = size(table);
        long n = entry(table, size, tags, a, b, c, d);
        long mine = mine(table, size, n);
        long all = values(table, size, n);
        plus(mine, all, 0, 1);
        sum(mine, all, value);
        long buckets = (size - VALUES) / 8 - 6;
        long from = U.getLong(at(table) + FROM);
        long bucket = 0;
        if (value >= from) {
            // All buckets together are narrower than 2⁶³, so a value whose distance overflows is
            // above them.
            long steps = value - from < 0 ? buckets : (value - from) / U.getLong(at(table) + STEP);
            bucket = Math.min(steps, buckets) + 1;
        }
        plus(mine, all, 32 + 8 * bucket, 1);
    }

    private static final int FROM = VeneerLayout.TABLE_FIRST;
    private static final int STEP = VeneerLayout.TABLE_SECOND;

    /**
     * Counts, in total and by seconds. After the count comes the first second plus one, and then a
     * ring of RING words. A word has a second in its upper half, and the count in this second in
     * its lower half.
     */
    public static void countRate(long table, long tags, long a, long b, long c, long d) {
        long size = size(table);
        long entry = values(table, size, entry(table, size, tags, a, b, c, d));
        long second = System.nanoTime() / 1_000_000_000L;
        U.getAndAddLong(null, entry, 1);
        if (U.getLong(entry + 8) == 0) {
            U.compareAndSetLong(null, entry + 8, 0, second + 1);
        }
        long word = entry + 16 + 8 * (second & RING - 1);
        while (true) {
            long old = U.getLongAcquire(null, word);
            if (old >>> 32 > second) {
                // This thread was delayed by more than the length of the ring: no reader asks for
                // that second.
                return;
            }
            long next = old >>> 32 == second ? old + 1 : second << 32 | 1;
            if (U.compareAndSetLong(null, word, old, next)) {
                return;
            }
        }
    }

    private static final long RING = VeneerLayout.RATE_RING;

    /**
     * Whether one of the keys is a string that did not fit into the table, so that it is not
     * distinguishable.
     */
    private static boolean lost(long tags, long a, long b, long c, long d) {
        return lost(tags, a) || lost(tags >>> 4, b) || lost(tags >>> 8, c) || lost(tags >>> 12, d);
    }

    private static boolean lost(long tag, long word) {
        return (tag & 15) == TEXT_TAG && word == VeneerTexts.NO_ROOM || (tag & 15) == OBJECT_TAG && word == (STRINGS | 0xffff_ffffL);
    }

    private static final int TEXT_TAG = VeneerLayout.TAG_TEXT;
    private static final int OBJECT_TAG = VeneerLayout.TAG_OBJECT;

    /** Adds a combination of keys and a value, which is the last key, to a set. */
    public static void addDistinct(long table, long tags, long a, long b, long c, long d) {
        if (lost(tags, a, b, c, d)) {
            U.getAndAddLong(null, at(table) + HEAD + VALUES, 1);
        } else {
            count(table, tags, a, b, c, d);
        }
    }

    /** Counts the keys in a table of the most frequent keys. See {@link VeneerFrequentKeys}. */
    public static void countTop(long table, long tags, long a, long b, long c, long d) {
        long rest = at(table) + HEAD;
        long size = size(table);
        long hash = hash(tags, a, b, c, d);
        long group = rest + (1 + (slot(hash, places(table)) & -VeneerLayout.GROUP)) * size;
        if (lost(tags, a, b, c, d)
                || !VeneerFrequentKeys.counted(group, size, hash, tags, a, b, c, d)
                        && !VeneerFrequentKeys.joined(group, size, hash, tags, a, b, c, d)) {
            U.getAndAddLong(null, rest + VALUES, 1);
        }
    }

    // A random sample (Vitter: Random Sampling with a Reservoir, 1985, algorithm R). Values are
    // numbered. While there are free places, a value gets the place of its number. Later, a place
    // is drawn among as many places as values have arrived, and the value is dropped if the table
    // has no such place. The draw is a hash of the number (SplitMix64), so threads share no
    // generator. The head has SEED, and BASE, the number of values that had arrived when the table
    // was cleared.
    private static final int SEED = VeneerLayout.TABLE_FIRST;
    private static final int BASE = VeneerLayout.TABLE_SECOND;

    /**
     * Numbers the current value. Returns its number plus one if the value is part of the sample;
     * else 0.
     */
    public static long draw(long table) {
        long number = U.getAndAddLong(null, table + VeneerLayout.TABLE_GIVEN, 1);
        return drawn(table, number) < 0 ? 0 : number + 1;
    }

    /**
     * The index of the place for the value with this number; -1 if it is not part of the sample.
     */
    private static long drawn(long table, long number) {
        long places = U.getLong(table);
        long came = number - U.getLong(table + BASE);
        if (came < places) {
            return came < 0 ? -1 : came;
        }
        long x = U.getLong(table + SEED) + came * 0x9E3779B97F4A7C15L;
        x = (x ^ x >>> 30) * 0xBF58476D1CE4E5B9L;
        x = (x ^ x >>> 27) * 0x94D049BB133111EBL;
        x ^= x >>> 31;
        // Scales the hash, a fraction of 2⁶³, to the number of values that have arrived.
        long place = Math.multiplyHigh(x >>> 1, came + 1 << 1);
        return place < places ? place : -1;
    }

    /**
     * Writes the values that {@link #draw} has selected, unless their place has a later value. See
     * {@link #put}.
     */
    public static void putSample(long table, long tags, long a, long b, long c, long d, long draw) {
        long number = draw - 1;
        long n = drawn(table, number);
        if (n < 0) {
            return;
        }
        long place = table + HEAD + (n + 1) * U.getLong(table + 8);
        long thread = VeneerTexts.number(table, Thread.currentThread().getName());
        long state = VeneerPlaces.settled(place, 1);
        while (state != 1 && state < number + 2) {
            if (U.compareAndSetLong(null, place, state, 1)) {
                write(place, number, thread, tags, a, b, c, d);
                return;
            }
            state = VeneerPlaces.settled(place, 1);
        }
    }

    /**
     * Writes values, time, thread and then the state to a place whose state is 1. {@code thread} is
     * the number of the string with the thread's name.
     */
    private static void write(long place, long number, long thread, long tags, long a, long b, long c, long d) {
        give(place, tags, a, b, c, d);
        U.putLong(place + VALUES, System.nanoTime());
        U.putLong(place + VALUES + 8, U.getLong(Thread.currentThread(), TID));
        U.putLong(place + VALUES + 16, thread);
        U.putLongRelease(null, place, number + 2);
    }

    /**
     * Puts the next of the latest values into the table, which is a ring. A place: state (0 empty,
     * 1 being written, else 2 plus the value's number), tags, values, time, thread, and the number of
     * the string with the thread's name. If another
     * thread is still writing to the place, which is one round late, the value is counted in the
     * rest only.
     */
    public static void put(long table, long tags, long a, long b, long c, long d) {
        long places = U.getLong(table);
        long number = U.getAndAddLong(null, table + VeneerLayout.TABLE_GIVEN, 1);
        long place = table + HEAD + ((number & places - 1) + 1) * U.getLong(table + 8);
        long thread = VeneerTexts.next(table, Thread.currentThread().getName());
        long state = U.getLongAcquire(null, place);
        if (state == 1 || !U.compareAndSetLong(null, place, state, 1)) {
            U.getAndAddLong(null, table + HEAD + VALUES, 1);
            return;
        }
        write(place, number, thread, tags, a, b, c, d);
    }

    /** Raises a word to a value, compared without signs. */
    private static void max(long at, long value) {
        long old = U.getLong(at);
        while (Long.compareUnsigned(old, value) < 0 && !U.compareAndSetLong(null, at, old, value)) {
            old = U.getLong(at);
        }
    }

    /**
     * The index of a value's bucket. The values 0 to 3 have a bucket each. Each larger power of two
     * has four buckets, selected by the two bits after the first one. All negative values have the
     * last bucket.
     */
    static int bucket(long value) {
        if (value < 4) {
            return value < 0 ? NEGATIVE : (int) value;
        }
        int bits = 63 - Long.numberOfLeadingZeros(value);
        return 4 * (bits - 1) + (int) (value >>> bits - 2 & 3);
    }

    /** The bucket of negative values. */
    private static final int NEGATIVE = VeneerLayout.NEGATIVE_BUCKET;
}
