package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The strings that are keys of tables, off the heap, and their numbers.
 *
 * <p>In words of 8 bytes: places (a power of two), strings at most, strings, then from {@link #HEAD} on the places: state (0 free, 1 being made,
 * else a hash), length of the string (and above it whether it has two bytes for a character), {@link #TEXT} characters.
 */
final class VeneerTexts {
    private VeneerTexts() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    private static final int HEAD = VeneerLayout.HEAD;
    private static final int TEXT = VeneerLayout.TABLE_TEXT;
    private static final int STRING = 16 + 2 * TEXT;

    static final long NO_ROOM = -1;

    private static final long VALUE = U.objectFieldOffset(String.class, "value");
    private static final long CODER = U.objectFieldOffset(String.class, "coder");
    private static final long BYTES = base();

    // ---- strings that are known by identity ---------------------------------------------------------------------------

    /** Tables of strings at most that have such a row. */
    private static final int ROWS = 1 << 10;

    /**
     * Of a table of strings, at the place where one is looked for first: the very object that was found there. A string mostly comes again as
     * the same object, and then nothing of it has to be compared. Only short ones stand here, so it is little that is kept alive, and none after
     * the agent has left. Row 0 is nobody's. The compiler takes rows for constants; one that it still knows says nothing wrong, since a place keeps its string.
     */
    @Stable private static final Object[] SEEN = new Object[ROWS];

    /** Of the same tables: the numbers of the entries that have a string as their one key, where they are known, by its number less one. They never change. */
    @Stable private static final Object[] ENTRIES = new Object[ROWS];

    private static int rows = 1;

    /** A row for a table with so many places for strings; 0 where there is none left. Called by the agent. */
    static synchronized long make(long places) {
        if (rows == ROWS) {
            return 0;
        }
        ENTRIES[rows] = new int[(int) places];
        SEEN[rows] = new String[(int) places];
        return rows++;
    }

    /** No string is kept any more. Called by the agent when it leaves. */
    static synchronized void forget() {
        java.util.Arrays.fill(SEEN, null);
        java.util.Arrays.fill(ENTRIES, null);
    }

    /** The entry of a table that has this string as its one key; 0 where that is not known. */
    @ForceInline
    static long entry(long table, long number) {
        int[] entries = (int[]) ENTRIES[(int) (table >>> 48) & ROWS - 1];
        return entries != null && number > 0 && number <= entries.length ? entries[(int) number - 1] : 0;
    }

    /** Says which it is, and gives it back. */
    static long entryIs(long table, long number, long entry) {
        int[] entries = (int[]) ENTRIES[(int) (table >>> 48) & ROWS - 1];
        if (entries != null && number > 0 && number <= entries.length) {
            entries[(int) number - 1] = (int) entry;
        }
        return entry;
    }

    /** Where a string is looked for first, of so many places, a power of two. */
    @ForceInline
    private static int home(String s, int places) {
        return s.hashCode() * 0x9E3779B9 >>> Integer.numberOfLeadingZeros(places - 1);
    }

    /** The number of a string in a table, from 1; {@link #NO_ROOM} where there are too many. */
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

    // ---- strings by what is in them -------------------------------------------------------------------------------------

    /**
     * By its own hash, which it keeps, its length and its first characters as they lie in it: one byte each, or two. Where another thread takes
     * too long with a place, the string may get a second one: who reads compares strings, and not numbers.
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
            long state = VeneerTables.settled(place);
            if (state == 0) {
                if (U.getLong(strings + 16) >= U.getLong(strings + 8)) {
                    return NO_ROOM;
                }
                if (U.compareAndSetLong(null, place, 0, 1)) {
                    U.putLong(place + 8, form);
                    U.copyMemory(value, BYTES, null, place + 16, n);
                    U.getAndAddLong(null, strings + 16, 1);
                    U.putLongRelease(null, place, hash);
                    state = hash;
                } else {
                    state = VeneerTables.settled(place);
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

    private static boolean same(long bytes, byte[] value, int n) {
        // The last word may overlap the one before.
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

    /** Where the first byte of an array lies. The JDK's method for that gives an int or a long, by its version. */
    private static long base() {
        try {
            MethodType type = MethodType.methodType(long.class, Class.class);
            return (long) MethodHandles.Lookup.IMPL_LOOKUP.findVirtual(Unsafe.class, "arrayBaseOffset", type)
                    .invokeExact(U, (Class<?>) byte[].class);
        } catch (Throwable e) {
            return intBase();
        }
    }

    private static long intBase() {
        try {
            MethodType type = MethodType.methodType(int.class, Class.class);
            return (int) MethodHandles.Lookup.IMPL_LOOKUP.findVirtual(Unsafe.class, "arrayBaseOffset", type)
                    .invokeExact(U, (Class<?>) byte[].class);
        } catch (Throwable e) {
            throw new LinkageError("Unsafe.arrayBaseOffset", e);
        }
    }
}
