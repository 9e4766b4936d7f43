package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The strings that are keys of tables, off the heap, and their numbers.
 *
 * <p>The strings of a table, in words of 8 bytes: number of places (a power of two), limit for the
 * strings, number of strings, and from {@link #HEAD} on the places. A place: state (0 free, else a
 * hash, see {@link VeneerPlaces}), length of the string in the lower half and its coder in the upper half of
 * a word, and {@link #TEXT} characters. Coder 0 has one byte for a character, and coder 1 has two.
 *
 * <p>In a table of the latest values, the strings are a ring, because each value may bring another
 * string: see {@link #next}. The fourth word of the head is then the number of bytes that a place has
 * for the characters.
 */
final class VeneerTexts {
    private VeneerTexts() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    private static final int HEAD = VeneerLayout.HEAD;
    private static final int TEXT = VeneerLayout.TABLE_TEXT;
    private static final int STRING = 16 + 2 * TEXT;

    /** The number of a string that does not fit into its table. */
    static final long NO_ROOM = -1;

    private static final long VALUE = U.objectFieldOffset(String.class, "value");
    private static final long CODER = U.objectFieldOffset(String.class, "coder");
    private static final long BYTES = base(byte[].class);

    // ---- strings that are known by identity -----------------------------------------------------

    /** Limit for the tables that know strings by identity, plus one for row 0. */
    private static final int ROWS = 1 << 10;

    /**
     * For each such table, the string object that was found last at each first place of a search. A
     * string usually arrives as the same object again, and then nothing needs to be compared. Only
     * short strings are kept, so they need little memory, and none after the agent has unloaded.
     * Row 0 is unused. The compiler treats rows as constants. An outdated row is harmless, because
     * a place never changes its string.
     */
    @Stable private static final Object[] SEEN = new Object[ROWS];

    /**
     * For the same tables: the number of the entry that has a string as its only key, by the
     * string's number minus one; 0 if it is not known. Such a number never changes.
     */
    @Stable private static final Object[] ENTRIES = new Object[ROWS];

    private static int rows = 1;

    /**
     * Reserves a row for a table with this number of places for strings; 0 if no row is left.
     * Called by the agent.
     */
    static synchronized long make(long places) {
        if (rows == ROWS) {
            return 0;
        }
        ENTRIES[rows] = new int[(int) places];
        SEEN[rows] = new String[(int) places];
        return rows++;
    }

    /**
     * Empties a row, so that another table with as many places can use it. No code may be using the
     * row. Called by the agent.
     */
    static synchronized void clear(long row) {
        int at = (int) row & ROWS - 1;
        if (SEEN[at] != null) {
            java.util.Arrays.fill((String[]) SEEN[at], null);
        }
        if (ENTRIES[at] != null) {
            java.util.Arrays.fill((int[]) ENTRIES[at], 0);
        }
    }

    /** Drops all strings. Called by the agent when it unloads. */
    static synchronized void forget() {
        java.util.Arrays.fill(SEEN, null);
        java.util.Arrays.fill(ENTRIES, null);
    }

    /**
     * The entry of a table that has the string with this number as its only key; 0 if it is not
     * known.
     */
    @ForceInline
    static long entry(long table, long number) {
        int[] entries = (int[]) ENTRIES[(int) (table >>> 48) & ROWS - 1];
        return entries != null && number > 0 && number <= entries.length ? entries[(int) number - 1] : 0;
    }

    /** Remembers the entry for {@link #entry}, and returns it. */
    static long entryIs(long table, long number, long entry) {
        int[] entries = (int[]) ENTRIES[(int) (table >>> 48) & ROWS - 1];
        if (entries != null && number > 0 && number <= entries.length) {
            entries[(int) number - 1] = (int) entry;
        }
        return entry;
    }

    /** The index of the first place to search for a string. {@code places} is a power of two. */
    @ForceInline
    private static int home(String s, int places) {
        return s.hashCode() * 0x9E3779B9 >>> Integer.numberOfLeadingZeros(places - 1);
    }

    /** The number of a string in a table, from 1; {@link #NO_ROOM} if the string does not fit. */
    @ForceInline
    static long number(long table, String s) {
        String[] seen = (String[]) SEEN[(int) (table >>> 48) & ROWS - 1];
        if (seen != null) {
            int at = home(s, seen.length);
            if (seen[at] == s) {
                return at + 1;
            }
        }
        return find(VeneerTables.strings(table), s, seen);
    }

    // ---- strings of the latest values -----------------------------------------------------------

    private static final int RING_TEXT = VeneerLayout.TABLE_RING_TEXT;
    /** The numbers of strings begin anew after 2³⁰ of them, which is a multiple of the places. */
    private static final long NUMBERS = 0x3fff_ffffL;

    /**
     * Writes a string to the next place of the ring, and returns its number, from 1. The state of the
     * place is then the number plus one, so a reader notices that a later string has its place. The
     * ring is longer than all strings of the table's values. {@link #NO_ROOM} if another thread is
     * still writing to the place.
     */
    static long next(long table, String s) {
        long strings = VeneerTables.strings(table);
        byte[] value = (byte[]) U.getReference(s, VALUE);
        int coder = U.getByte(s, CODER);
        long bytes = U.getLong(strings + RING_TEXT);
        long number = 1 + (U.getAndAddLong(null, strings + 16, 1) & NUMBERS);
        long place = strings + HEAD + (number - 1 & U.getLong(strings) - 1) * (16 + bytes);
        long state = U.getLongAcquire(null, place);
        if (state == 1 || !U.compareAndSetLong(null, place, state, 1)) {
            return NO_ROOM;
        }
        U.putLong(place + 8, (long) coder << 32 | value.length >> coder);
        U.copyMemory(value, BYTES, null, place + 16, Math.min(value.length, bytes));
        U.putLongRelease(null, place, number + 1);
        return number;
    }

    // ---- strings by content -------------------------------------------------------------

    /**
     * Finds a string by its hash, its length and its first characters in the string's own coding,
     * or adds it.
     */
    private static long find(long strings, String s, String[] seen) {
        byte[] value = (byte[]) U.getReference(s, VALUE);
        int coder = U.getByte(s, CODER);
        int n = Math.min(value.length, TEXT << coder);
        long form = (long) coder << 32 | value.length >> coder;
        long hash = (s.hashCode() + (form << 32)) * 0x9E3779B97F4A7C15L | 2;
        long places = U.getLong(strings);
        long home = home(s, (int) places);
        long at = home;
        for (long turn = 0; turn < places; turn++, at = at + 1 & places - 1) {
            long place = strings + HEAD + at * STRING;
            long state = U.getLongAcquire(null, place);
            if (state == 0) {
                if (VeneerPlaces.reserve(strings + LIMIT)) {
                    boolean claimed = U.compareAndSetLong(null, place, 0, writing(hash, value, n));
                    if (claimed) {
                        write(place, hash, form, value, n);
                    }
                    VeneerPlaces.done(strings + LIMIT, claimed);
                }
                // Another thread may have claimed the place.
                state = U.getLongAcquire(null, place);
                if (state == 0) {
                    return NO_ROOM;
                }
            }
            if (VeneerPlaces.isWriting(state) && state == writing(hash, value, n)) {
                long writing = state;
                state = VeneerPlaces.settled(place, writing);
                if (state == writing) {
                    // The other thread was stopped. It writes the same when it continues.
                    write(place, hash, form, value, n);
                    state = hash;
                }
            }
            if (state == hash && U.getLong(place + 8) == form && same(place + 16, value, n)) {
                if (at == home && seen != null && value.length <= TEXT) {
                    seen[(int) at] = s;
                }
                return at + 1;
            }
        }
        return NO_ROOM;
    }

    /** Offset in the head: the limit for the strings. The number of strings follows. */
    private static final int LIMIT = 8;

    /**
     * The state of a place while a thread writes this string. {@code hash} is the state afterwards, which
     * many strings may have. {@code n} bytes of the string are stored.
     */
    private static long writing(long hash, byte[] value, int n) {
        long sum = hash;
        int i = 0;
        for (; i + 8 <= n; i += 8) {
            sum = mixed(sum, U.getLongUnaligned(value, BYTES + i));
        }
        long last = 0;
        for (; i < n; i++) {
            last = last << 8 | value[i] & 0xff;
        }
        return VeneerPlaces.writing(mixed(sum, last));
    }

    /** Different for all words that are added to the same sum. */
    private static long mixed(long sum, long word) {
        long x = (sum ^ word) * 0x9E3779B97F4A7C15L;
        return (x ^ x >>> 32) * 0xD6E8FEB86659FD93L;
    }

    /** Writes a string and then the state to a place that is being written. */
    private static void write(long place, long hash, long form, byte[] value, int n) {
        U.putLong(place + 8, form);
        U.copyMemory(value, BYTES, null, place + 16, n);
        U.putLongRelease(null, place, hash);
    }

    /** Whether {@code n} bytes off the heap equal those of an array. */
    private static boolean same(long bytes, byte[] value, int n) {
        // The last word may overlap the word before it.
        if (n >= 8) {
            for (int i = 0; i + 8 < n; i += 8) {
                if (U.getLong(bytes + i) != U.getLongUnaligned(value, BYTES + i)) {
                    return false;
                }
            }
            return U.getLongUnaligned(null, bytes + n - 8) == U.getLongUnaligned(value, BYTES + n - 8);
        }
        if (n >= 4) {
            return U.getInt(bytes) == U.getIntUnaligned(value, BYTES)
                    && U.getIntUnaligned(null, bytes + n - 4) == U.getIntUnaligned(value, BYTES + n - 4);
        }
        for (int i = 0; i < n; i++) {
            if (U.getByte(bytes + i) != value[i]) {
                return false;
            }
        }
        return true;
    }

    /**
     * The offset of the first element of an array of this class. The JDK's method for it returns an int or a long,
     * by its version.
     */
    static long base(Class<?> array) {
        try {
            MethodType type = MethodType.methodType(long.class, Class.class);
            return (long) MethodHandles.Lookup.IMPL_LOOKUP.findVirtual(Unsafe.class, "arrayBaseOffset", type)
                    .invokeExact(U, array);
        } catch (Throwable e) {
            return intBase(array);
        }
    }

    private static long intBase(Class<?> array) {
        try {
            MethodType type = MethodType.methodType(int.class, Class.class);
            return (int) MethodHandles.Lookup.IMPL_LOOKUP.findVirtual(Unsafe.class, "arrayBaseOffset", type)
                    .invokeExact(U, array);
        } catch (Throwable e) {
            throw new LinkageError("Unsafe.arrayBaseOffset", e);
        }
    }
}
