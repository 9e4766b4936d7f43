package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Tables, off the heap: what compiled probes give goes here. {@code executor/src/tallies.rs} makes them, and reads them by the same places.
 */
public final class VeneerTables {
    private VeneerTables() {}

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    // A table, in words of 8 bytes: places (a power of two), words of an entry, entries at most, entries, address of the strings, then
    // from HEAD on the entry of what has no place of its own, and the places. An entry: state (0 free, 1 being made, else a
    // hash), tags of the keys, KEYS keys, then the values: count; where there are more, sum, greatest and least (the latter as its
    // complement), both with the sign turned round; where there are still more, a histogram. What other kinds have stands with them.
    static final int HEAD = VeneerLayout.HEAD;
    static final int VALUES = VeneerLayout.VALUES;
    private static final int SPINS = 1_000;

    /** As in {@code executor/src/tallies.rs}. */
    static final long STRINGS = VeneerLayout.STRINGS;

    /** The state of a place, when whoever makes it has made it; 1 where that takes too long. */
    static long settled(long place) {
        long state = U.getLongAcquire(null, place);
        for (int i = 0; state == 1 && i < SPINS; i++) {
            Thread.onSpinWait();
            state = U.getLongAcquire(null, place);
        }
        return state;
    }

    /**
     * Of the keys of an entry: never 0 or 1, and that of no keys at all is nobody else's. Good in its upper bits, where {@link #slot} looks: those
     * of a product depend on all of its factor.
     */
    @ForceInline
    private static long hash(long tags, long a, long b, long c, long d) {
        // Products that do not wait for each other; those of keys that are not there vanish.
        long sum = tags + a * 0x9E3779B97F4A7C15L + b * 0xC2B2AE3D27D4EB4FL + c * 0x165667B19E3779F9L + d * 0xD6E8FEB86659FD93L;
        return tags == 0 ? 2 : sum | 6;
    }

    /** Whether a place, once its state was this hash, has these keys. Which there are say the tags; the compiler knows them. */
    @ForceInline
    private static boolean has(long place, long tags, long a, long b, long c, long d) {
        return tags == 0
                || U.getLong(place + 8) == tags
                        && U.getLong(place + 16) == a
                        && (tags >>> 4 == 0 || U.getLong(place + 24) == b)
                        && (tags >>> 8 == 0 || U.getLong(place + 32) == c)
                        && (tags >>> 12 == 0 || U.getLong(place + 40) == d);
    }

    /** Gives a place these keys; its state is 1. */
    @ForceInline
    private static void give(long place, long tags, long a, long b, long c, long d) {
        U.putLong(place + 8, tags);
        U.putLong(place + 16, a);
        U.putLong(place + 24, b);
        U.putLong(place + 32, c);
        U.putLong(place + 40, d);
    }

    /** The place where what has this hash is looked for first, of so many, a power of two. */
    @ForceInline
    static long slot(long hash, long places) {
        return hash >>> Long.numberOfLeadingZeros(places - 1) & places - 1;
    }

    /**
     * The number of the place with these keys, which is made where there is none; 0, the rest, where there are too many. Where another thread
     * takes too long with a place, the keys may get a second one: who reads adds them up.
     */
    @ForceInline
    private static long entry(long table, long size, long tags, long a, long b, long c, long d) {
        if (tags == TEXT_TAG) {
            // One key, a string: by its number.
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
        // Mostly it is there, where it is looked for first. Nothing orders these reads, so that the compiler may keep what it knows: of a place that
        // is being made the keys may be seen as zero, which are the keys of nobody whose hash it gets, since tags are not.
        if (U.getLong(place) == hash && has(place, tags, a, b, c, d)) {
            return n;
        }
        return search(at(table), hash, tags, a, b, c, d);
    }

    /**
     * Where a table lies. What code has of it is a constant: the address, in its lower six bits how many places there are, and in the upper 16
     * the row of {@link VeneerTexts}.
     */
    @ForceInline
    private static long at(long table) {
        return table << 16 >> 16 & -HEAD;
    }

    /** Where the strings of a table lie. */
    static long strings(long table) {
        return U.getLong(at(table) + VeneerLayout.TABLE_STRINGS);
    }

    /** How many places there are: a power of two. */
    @ForceInline
    private static long places(long table) {
        return 1L << (table & HEAD - 1);
    }

    /** Where the values of a place lie that all threads change. */
    @ForceInline
    private static long values(long table, long size, long n) {
        return at(table) + HEAD + n * size + VALUES;
    }

    /** Bytes of a place. */
    @ForceInline
    private static long size(long table) {
        return U.getLong(at(table) + 8);
    }

    /**
     * Where the current thread adds up values of a place for itself, among its counters (see {@link VeneerRuntime#known}); 0 where it has none, or the table
     * has no room there. A value is what all threads have there, and what stands in the place.
     */
    @ForceInline
    private static long mine(long table, long size, long n) {
        long at = U.getLong(at(table) + MINE);
        long shard = VeneerRuntime.known();
        return at < 0 || shard <= 0 ? 0 : shard + at + n * (size - VALUES);
    }

    /** In the head: where a thread's own values begin among its counters; -1 where it has none. */
    private static final int MINE = VeneerLayout.TABLE_PARTS;

    /** Adds to a value: to this thread's part of it, or to that of all. */
    @ForceInline
    private static void plus(long mine, long all, long offset, long n) {
        if (mine != 0) {
            U.putLong(mine + offset, U.getLong(mine + offset) + n);
        } else {
            U.getAndAddLong(null, all + offset, n);
        }
    }

    private static long search(long table, long hash, long tags, long a, long b, long c, long d) {
        long places = U.getLong(table);
        long size = U.getLong(table + 8);
        long rest = table + HEAD;
        long at = slot(hash, places);
        for (long turn = 0; turn < places; turn++, at = at + 1 & places - 1) {
            long place = rest + (at + 1) * size;
            long state = settled(place);
            if (state == 0) {
                if (U.getLong(table + 24) >= U.getLong(table + 16)) {
                    return 0;
                }
                if (U.compareAndSetLong(null, place, 0, 1)) {
                    give(place, tags, a, b, c, d);
                    U.getAndAddLong(null, table + 24, 1);
                    U.putLongRelease(null, place, hash);
                    return at + 1;
                }
                state = settled(place);
            }
            if (state == hash && has(place, tags, a, b, c, d)) {
                return at + 1;
            }
        }
        return 0;
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

    /** One more value, in the words behind the count: the greatest and the least are those of all threads. */
    @ForceInline
    private static void sum(long mine, long all, long value) {
        plus(mine, all, 8, value);
        // Zero is the least of what is compared without a sign.
        max(all + 16, value ^ Long.MIN_VALUE);
        max(all + 24, ~(value ^ Long.MIN_VALUE));
    }

    /** The same with buckets of one width: how many lie below, in each, and above. In the head: FROM, where the first begins, and STEP, their width. */
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
            // All buckets together are narrower than 2⁶³, so what is farther away is above them.
            long steps = value - from < 0 ? buckets : (value - from) / U.getLong(at(table) + STEP);
            bucket = Math.min(steps, buckets) + 1;
        }
        plus(mine, all, 32 + 8 * bucket, 1);
    }

    private static final int FROM = VeneerLayout.TABLE_FIRST;
    private static final int STEP = VeneerLayout.TABLE_SECOND;

    /**
     * Counts, and by seconds: behind the count stands the second in which the first came, and one more, then a ring of RING words, each a second
     * and below it, in 32 bits, how often in it.
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
                // This thread was held up for a minute: nobody asks for that second any more.
                return;
            }
            long next = old >>> 32 == second ? old + 1 : second << 32 | 1;
            if (U.compareAndSetLong(null, word, old, next)) {
                return;
            }
        }
    }

    /** As in {@code instruments/src/tally.rs}. */
    private static final long RING = VeneerLayout.RATE_RING;

    /** Whether one of the keys is a string for which there was no room, so that it cannot be told from others. */
    private static boolean lost(long tags, long a, long b, long c, long d) {
        return lost(tags, a) || lost(tags >>> 4, b) || lost(tags >>> 8, c) || lost(tags >>> 12, d);
    }

    private static boolean lost(long tag, long word) {
        return (tag & 15) == TEXT_TAG && word == VeneerTexts.NO_ROOM || (tag & 15) == OBJECT_TAG && word == (STRINGS | 0xffff_ffffL);
    }

    /** As {@code veneer_probes::compile::Tag}. */
    private static final int TEXT_TAG = VeneerLayout.TAG_TEXT;
    private static final int OBJECT_TAG = VeneerLayout.TAG_OBJECT;

    /** One more of a set: a combination of keys with a value, which is the last of them. */
    public static void addDistinct(long table, long tags, long a, long b, long c, long d) {
        if (lost(tags, a, b, c, d)) {
            U.getAndAddLong(null, at(table) + HEAD + VALUES, 1);
        } else {
            count(table, tags, a, b, c, d);
        }
    }

    // The most frequent of unboundedly many (Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k Elements in Data Streams,
    // 2005), in groups of GROUP places, by the hash of the keys. What is new takes the place with the least count of its group and goes on
    // from there; that count is its error. Values: count, error, and of the first place of a group, whether somebody is giving one of its places
    // to other keys. Counts of places only rise, also when the keys change. So whoever has read a count, has found its keys there after that, and
    // then adds one to just that count, has added to these keys.
    private static final long GROUP = VeneerLayout.GROUP;

    public static void countTop(long table, long tags, long a, long b, long c, long d) {
        long rest = at(table) + HEAD;
        long size = size(table);
        long hash = hash(tags, a, b, c, d);
        long group = rest + (1 + (slot(hash, places(table)) & -GROUP)) * size;
        if (lost(tags, a, b, c, d) || !counted(group, size, hash, tags, a, b, c, d) && !joined(group, size, hash, tags, a, b, c, d)) {
            U.getAndAddLong(null, rest + VALUES, 1);
        }
    }

    /** Adds one to the place that has these keys; false where there is none now. */
    private static boolean counted(long group, long size, long hash, long tags, long a, long b, long c, long d) {
        for (long place = group, end = group + GROUP * size; place < end; place += size) {
            while (U.getLong(place) == hash) {
                long count = U.getLongAcquire(null, place + VALUES);
                if (U.getLong(place) != hash || !has(place, tags, a, b, c, d)) {
                    break;
                }
                if (U.compareAndSetLong(null, place + VALUES, count, count + 1)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Gives these keys a place of the group; false where others are busy there for too long. One at a time does, so no keys come twice. */
    private static boolean joined(long group, long size, long hash, long tags, long a, long b, long c, long d) {
        long busy = group + VALUES + 16;
        int turn = 0;
        while (U.getLongAcquire(null, busy) != 0 || !U.compareAndSetLong(null, busy, 0, 1)) {
            if (++turn == SPINS) {
                return false;
            }
            Thread.onSpinWait();
        }
        // They may have come meanwhile.
        boolean done = counted(group, size, hash, tags, a, b, c, d) || taken(group, size, hash, tags, a, b, c, d);
        U.putLongRelease(null, busy, 0);
        return done;
    }

    /** Takes the place with the least count; false where others count there too fast to say which it is. */
    private static boolean taken(long group, long size, long hash, long tags, long a, long b, long c, long d) {
        for (int turn = 0; turn < SPINS; turn++) {
            long least = group;
            long count = U.getLong(group + VALUES);
            for (long n = 1; n < GROUP; n++) {
                long here = U.getLong(group + n * size + VALUES);
                if (here < count) {
                    count = here;
                    least = group + n * size;
                }
            }
            long state = U.getLong(least);
            U.putLongVolatile(null, least, 1);
            // From here on nobody finds the old keys; who has found them before has counted before, or does not any more.
            if (U.compareAndSetLong(null, least + VALUES, count, count + 1)) {
                give(least, tags, a, b, c, d);
                U.putLong(least + VALUES + 8, count);
                U.putLongRelease(null, least, hash);
                return true;
            }
            U.putLongRelease(null, least, state);
        }
        return false;
    }

    // A sample (Vitter: Random Sampling with a Reservoir, 1985, algorithm R): of so many places, the one that comes with a number takes the place
    // of that number while there are such, and then one that is drawn among as many as have come. What is drawn follows from the
    // number by a hash (SplitMix64), so no generator is shared. In the head: SEED of the table, and BASE, how many had come when it was cleared.
    private static final int SEED = VeneerLayout.TABLE_FIRST;
    private static final int BASE = VeneerLayout.TABLE_SECOND;

    /** The number of what comes now, and one more, if it goes into the sample; else 0. */
    public static long draw(long table) {
        long number = U.getAndAddLong(null, table + VeneerLayout.TABLE_GIVEN, 1);
        return drawn(table, number) < 0 ? 0 : number + 1;
    }

    /** The place of what came with a number, from 0; -1 where there is none for it. */
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
        // As a fraction of 2⁶³, of as many as have come.
        long place = Math.multiplyHigh(x >>> 1, came + 1 << 1);
        return place < places ? place : -1;
    }

    /** Puts what {@link #draw} has drawn into its place; see {@link #put}. Nothing later than it is written over. */
    public static void putSample(long table, long tags, long a, long b, long c, long d, long draw) {
        long number = draw - 1;
        long n = drawn(table, number);
        if (n < 0) {
            return;
        }
        long place = table + HEAD + (n + 1) * U.getLong(table + 8);
        long state = settled(place);
        while (state != 1 && state < number + 2) {
            if (U.compareAndSetLong(null, place, state, 1)) {
                write(place, number, tags, a, b, c, d);
                return;
            }
            state = settled(place);
        }
    }

    /** Writes values with time and thread, and then how many came before them, to a place that is claimed. */
    private static void write(long place, long number, long tags, long a, long b, long c, long d) {
        give(place, tags, a, b, c, d);
        U.putLong(place + VALUES, System.nanoTime());
        U.putLong(place + VALUES + 8, U.getLong(Thread.currentThread(), TID));
        U.putLongRelease(null, place, number + 2);
    }

    /**
     * The next of the latest values: the table goes round. A place: state (0 none, 1 being written, else 2 and how many came before), tags, values,
     * time, thread. What finds its place being written, a whole turn later, is not kept.
     */
    public static void put(long table, long tags, long a, long b, long c, long d) {
        long places = U.getLong(table);
        long number = U.getAndAddLong(null, table + VeneerLayout.TABLE_GIVEN, 1);
        long place = table + HEAD + ((number & places - 1) + 1) * U.getLong(table + 8);
        long state = U.getLongAcquire(null, place);
        if (state == 1 || !U.compareAndSetLong(null, place, state, 1)) {
            U.getAndAddLong(null, table + HEAD + VALUES, 1);
            return;
        }
        write(place, number, tags, a, b, c, d);
    }

    private static void max(long at, long value) {
        long old = U.getLong(at);
        while (Long.compareUnsigned(old, value) < 0 && !U.compareAndSetLong(null, at, old, value)) {
            old = U.getLong(at);
        }
    }

    /** Four buckets for each power of two: 0 to 3 by themselves, then by the two bits behind the first; negative ones in the last. */
    static int bucket(long value) {
        if (value < 4) {
            return value < 0 ? NEGATIVE : (int) value;
        }
        int bits = 63 - Long.numberOfLeadingZeros(value);
        return 4 * (bits - 1) + (int) (value >>> bits - 2 & 3);
    }

    /** As many as {@link #bucket} gives for what is not negative. */
    private static final int NEGATIVE = VeneerLayout.NEGATIVE_BUCKET;
}
