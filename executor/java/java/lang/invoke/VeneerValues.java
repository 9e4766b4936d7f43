package java.lang.invoke;

import java.util.Collection;
import java.util.Map;
import jdk.internal.misc.Unsafe;

/**
 * Values of the application as text, the numbers in boxes, and the sizes of the JDK's collections.
 *
 * <p>No method calls code of the application or takes a lock: values are read from fields, and only
 * classes in packages that are never armed are called. Texts are new strings, except for those of
 * strings and enums. No method throws: an object whose text cannot be made, for example because the
 * heap is full, has none.
 */
final class VeneerValues {
    private VeneerValues() {}

    private static final Unsafe U = Unsafe.getUnsafe();

    // ---- sizes ----------------------------------------------------------------------------------

    /** Limit for the wrappers around a collection, such as those of {@code Collections}. */
    private static final int WRAPPERS = 8;

    /**
     * The fields with the sizes of collections, as class and name, in the order of the search. A
     * collection of the application may extend one of these classes, and has the field too. All
     * classes are part of {@code java.base}.
     */
    private static final String[] SIZES = {
        "java.util.ArrayList", "size",
        "java.util.HashMap", "size",
        "java.util.LinkedList", "size",
        "java.util.TreeMap", "size",
        "java.util.Vector", "elementCount",
        "java.util.Hashtable", "count",
        "java.util.PriorityQueue", "size",
        "java.util.IdentityHashMap", "size",
        "java.util.WeakHashMap", "size",
        "java.util.EnumMap", "size",
        "java.util.ArrayList$SubList", "size",
        "java.util.concurrent.ArrayBlockingQueue", "count",
        "java.util.concurrent.LinkedBlockingDeque", "count",
        "java.util.concurrent.PriorityBlockingQueue", "size",
    };

    /** The fields with the collection inside another one, as class and name. */
    private static final String[] INSIDE = {
        "java.util.HashSet", "map",
        "java.util.TreeSet", "m",
        "java.util.Properties", "map",
        "java.util.Collections$UnmodifiableCollection", "c",
        "java.util.Collections$UnmodifiableMap", "m",
        "java.util.Collections$SynchronizedCollection", "c",
        "java.util.Collections$SynchronizedMap", "m",
        "java.util.Collections$CheckedCollection", "c",
        "java.util.Collections$CheckedMap", "m",
        "java.util.Collections$SetFromMap", "m",
        "java.util.concurrent.CopyOnWriteArraySet", "al",
        "java.util.concurrent.ConcurrentSkipListSet", "m",
        "java.util.concurrent.ConcurrentHashMap$CollectionView", "map",
    };

    private static final Class<?>[] SIZE_CLASSES = classes(SIZES);
    private static final long[] SIZE_OFFSETS = offsets(SIZE_CLASSES, SIZES);
    private static final Class<?>[] INSIDE_CLASSES = classes(INSIDE);
    private static final long[] INSIDE_OFFSETS = offsets(INSIDE_CLASSES, INSIDE);

    private static Class<?>[] classes(String[] fields) {
        Class<?>[] classes = new Class<?>[fields.length / 2];
        for (int n = 0; n < classes.length; n++) {
            try {
                classes[n] = Class.forName(fields[2 * n], false, null);
            } catch (ClassNotFoundException | LinkageError e) {
                // Another JDK may not have the class.
                classes[n] = null;
            }
        }
        return classes;
    }

    /** The offsets of fields; -1 for a field that this JDK does not have. */
    private static long[] offsets(Class<?>[] classes, String[] fields) {
        long[] offsets = new long[classes.length];
        for (int n = 0; n < offsets.length; n++) {
            try {
                offsets[n] = classes[n] == null ? -1 : U.objectFieldOffset(classes[n], fields[2 * n + 1]);
            } catch (Throwable e) {
                offsets[n] = -1;
            }
        }
        return offsets;
    }

    /**
     * The number of elements of a collection of the JDK or of an array, the length of a string; 0 for
     * null, and -1 for other objects.
     */
    static long size(Object o) {
        if (o == null || o instanceof String) {
            return VeneerProbe.characters(o);
        }
        if (o.getClass().isArray()) {
            return VeneerProbe.elements(o);
        }
        try {
            Object of = o;
            for (int wrappers = 0; of != null && wrappers < WRAPPERS; wrappers++) {
                // The inherited count of Properties is always 0.
                boolean inner = of instanceof java.util.Properties;
                for (int n = 0; n < SIZE_CLASSES.length && !inner; n++) {
                    if (SIZE_OFFSETS[n] >= 0 && SIZE_CLASSES[n].isInstance(of)) {
                        return U.getInt(of, SIZE_OFFSETS[n]);
                    }
                }
                if (tellsSize(of.getClass().getName())) {
                    return of instanceof Map<?, ?> map ? map.size() : ((Collection<?>) of).size();
                }
                of = inside(of);
            }
        } catch (Throwable e) {
            return -1;
        }
        return -1;
    }

    private static Object inside(Object of) {
        for (int n = 0; n < INSIDE_CLASSES.length; n++) {
            if (INSIDE_OFFSETS[n] >= 0 && INSIDE_CLASSES[n].isInstance(of)) {
                return U.getReference(of, INSIDE_OFFSETS[n]);
            }
        }
        return null;
    }

    /**
     * Whether the method {@code size} of exactly this class neither takes a lock nor calls other
     * classes' methods nor visits the elements.
     */
    private static boolean tellsSize(String name) {
        return switch (name) {
            case "java.util.ArrayDeque",
                    "java.util.RegularEnumSet",
                    "java.util.JumboEnumSet",
                    "java.util.Arrays$ArrayList",
                    "java.util.Collections$EmptyList",
                    "java.util.Collections$EmptySet",
                    "java.util.Collections$EmptyMap",
                    "java.util.Collections$SingletonList",
                    "java.util.Collections$SingletonSet",
                    "java.util.Collections$SingletonMap",
                    "java.util.Collections$CopiesList",
                    "java.util.ImmutableCollections$List12",
                    "java.util.ImmutableCollections$ListN",
                    "java.util.ImmutableCollections$SubList",
                    "java.util.ImmutableCollections$Set12",
                    "java.util.ImmutableCollections$SetN",
                    "java.util.ImmutableCollections$Map1",
                    "java.util.ImmutableCollections$MapN",
                    "java.util.concurrent.ConcurrentHashMap",
                    "java.util.concurrent.ConcurrentSkipListMap",
                    "java.util.concurrent.CopyOnWriteArrayList",
                    "java.util.concurrent.LinkedBlockingQueue" -> true;
            default -> false;
        };
    }

    // ---- boxes ----------------------------------------------------------------------------------

    /** The integer in a box; 0 for other objects. */
    static long integer(Object o) {
        if (o instanceof Character c) {
            return c;
        }
        boolean whole = o instanceof Integer || o instanceof Long || o instanceof Short || o instanceof Byte;
        return whole ? ((Number) o).longValue() : 0;
    }

    /** The floating-point number in a box; 0 for other objects. */
    static double real(Object o) {
        return o instanceof Double || o instanceof Float ? ((Number) o).doubleValue() : 0;
    }

    // ---- texts ----------------------------------------------------------------------------------

    /** The text of a value: a string, an enum, a number, a date; null for all other objects. */
    static String text(Object o) {
        if (o == null || o instanceof String) {
            return (String) o;
        }
        if (o instanceof Enum<?> e) {
            return e.name();
        }
        try {
            return valueText(o, o.getClass().getName());
        } catch (Throwable e) {
            return null;
        }
    }

    /** The text of a value of exactly this class of the JDK; null for all other objects. */
    private static String valueText(Object o, String name) {
        switch (name) {
            case "java.lang.Integer", "java.lang.Short", "java.lang.Byte", "java.lang.Long":
                return Long.toString(((Number) o).longValue());
            case "java.lang.Double":
                return Double.toString((Double) o);
            case "java.lang.Float":
                return Float.toString((Float) o);
            case "java.lang.Boolean":
                return (Boolean) o ? "true" : "false";
            case "java.lang.Character":
                return String.valueOf((char) (Character) o);
            case "java.lang.Class":
                return ((Class<?>) o).getName();
            case "java.util.UUID":
                return ((java.util.UUID) o).toString();
            case "java.util.concurrent.atomic.AtomicInteger":
                return Long.toString(number(o, "value"));
            case "java.util.concurrent.atomic.AtomicLong":
                return Long.toString(U.getLong(o, offset(o, "value")));
            case "java.util.concurrent.atomic.AtomicBoolean":
                return number(o, "value") != 0 ? "true" : "false";
            case "java.math.BigInteger":
                return whole(o);
            case "java.math.BigDecimal":
                return decimal(o);
            default:
                return name.startsWith("java.time.") || name.startsWith("java.util.Date") || name.startsWith("java.sql.")
                        ? timeText(o, name)
                        : null;
        }
    }

    private static long offset(Object o, String field) {
        return U.objectFieldOffset(o.getClass(), field);
    }

    private static int number(Object o, String field) {
        return U.getInt(o, offset(o, field));
    }

    private static Object part(Object o, String field) {
        return U.getReference(o, offset(o, field));
    }

    // ---- numbers of java.math, whose classes may be armed ---------------------------------------

    /** Limit for the words of a number that is shown in full: more than 600 decimal digits. */
    private static final int WORDS = 64;

    /** The digits of a {@code BigInteger}. */
    private static String whole(Object o) {
        int[] words = (int[]) part(o, "mag");
        if (words.length > WORDS) {
            return null;
        }
        String digits = digits(words);
        return number(o, "signum") < 0 ? "-" + digits : digits;
    }

    /** The decimal digits of a number whose words are given, the highest one first. */
    private static String digits(int[] words) {
        int[] rest = words.clone();
        StringBuilder reversed = new StringBuilder();
        boolean more = true;
        while (more) {
            long remainder = 0;
            more = false;
            for (int n = 0; n < rest.length; n++) {
                long word = remainder << 32 | rest[n] & 0xffff_ffffL;
                rest[n] = (int) (word / 1_000_000_000);
                remainder = word % 1_000_000_000;
                more |= rest[n] != 0;
            }
            for (int digit = 0; digit < 9 && (more || remainder > 0 || reversed.length() == 0); digit++) {
                reversed.append((char) ('0' + remainder % 10));
                remainder /= 10;
            }
        }
        return reversed.reverse().toString();
    }

    /** The digits of a {@code BigDecimal}, with its point, or with an exponent if that is short. */
    private static String decimal(Object o) {
        long compact = U.getLong(o, offset(o, "intCompact"));
        String digits = compact != Long.MIN_VALUE ? Long.toString(compact) : whole(part(o, "intVal"));
        int scale = number(o, "scale");
        if (digits == null || scale == 0) {
            return digits;
        }
        if (scale < 0 || scale > 30) {
            return digits + "E" + -(long) scale;
        }
        boolean negative = digits.startsWith("-");
        StringBuilder text = new StringBuilder(negative ? digits.substring(1) : digits);
        while (text.length() <= scale) {
            text.insert(0, '0');
        }
        text.insert(text.length() - scale, '.');
        return negative ? "-" + text : text.toString();
    }

    // ---- dates and times, whose classes may be armed --------------------------------------------

    private static String timeText(Object o, String name) {
        StringBuilder to = new StringBuilder();
        switch (name) {
            case "java.time.LocalDate" -> date(to, o);
            case "java.time.LocalTime" -> time(to, o);
            case "java.time.LocalDateTime" -> dateTime(to, o);
            case "java.time.OffsetDateTime" -> {
                dateTime(to, part(o, "dateTime"));
                to.append((String) part(part(o, "offset"), "id"));
            }
            case "java.time.ZonedDateTime" -> {
                dateTime(to, part(o, "dateTime"));
                Object offset = part(o, "offset");
                Object zone = part(o, "zone");
                to.append((String) part(offset, "id"));
                if (zone != offset) {
                    to.append('[').append((String) part(zone, "id")).append(']');
                }
            }
            case "java.time.Instant" -> instant(to, U.getLong(o, offset(o, "seconds")), number(o, "nanos"));
            case "java.time.Duration" -> {
                long seconds = U.getLong(o, offset(o, "seconds"));
                int nanos = number(o, "nanos");
                if (seconds < 0 && nanos > 0) {
                    // The nanoseconds count upwards, also in negative durations.
                    seconds++;
                    nanos = 1_000_000_000 - nanos;
                    to.append(seconds == 0 ? "-" : "");
                }
                to.append(seconds);
                fraction(to, nanos);
                to.append(" s");
            }
            case "java.util.Date", "java.sql.Date", "java.sql.Time", "java.sql.Timestamp" -> {
                long millis = U.getLong(o, U.objectFieldOffset(java.util.Date.class, "fastTime"));
                long second = Math.floorDiv(millis, 1000L);
                boolean stamp = name.equals("java.sql.Timestamp");
                instant(to, second, stamp ? number(o, "nanos") : (int) (millis - 1000 * second) * 1_000_000);
            }
            default -> {
                return null;
            }
        }
        return to.toString();
    }

    private static void padded(StringBuilder to, long number, int digits) {
        String text = Long.toString(number);
        for (int n = text.length(); n < digits; n++) {
            to.append('0');
        }
        to.append(text);
    }

    private static void date(StringBuilder to, Object o) {
        long month = offset(o, "month");
        long day = offset(o, "day");
        // Month and day have one byte each since JDK 25, and two bytes before. They are neighbours.
        boolean bytes = Math.abs(day - month) == 1;
        int ofMonth = bytes ? U.getByte(o, month) : U.getShort(o, month);
        int ofDay = bytes ? U.getByte(o, day) : U.getShort(o, day);
        date(to, number(o, "year"), ofMonth, ofDay);
    }

    private static void date(StringBuilder to, long year, int month, int day) {
        to.append(year < 0 ? "-" : "");
        padded(to, Math.abs(year), 4);
        to.append('-');
        padded(to, month, 2);
        to.append('-');
        padded(to, day, 2);
    }

    private static void time(StringBuilder to, Object o) {
        time(to, U.getByte(o, offset(o, "hour")), U.getByte(o, offset(o, "minute")), U.getByte(o, offset(o, "second")), number(o, "nano"));
    }

    private static void time(StringBuilder to, int hour, int minute, int second, int nanos) {
        padded(to, hour, 2);
        to.append(':');
        padded(to, minute, 2);
        to.append(':');
        padded(to, second, 2);
        fraction(to, nanos);
    }

    /** Appends nanoseconds as a fraction of a second, with 3, 6 or 9 digits. */
    private static void fraction(StringBuilder to, int nanos) {
        if (nanos == 0) {
            return;
        }
        to.append('.');
        if (nanos % 1_000_000 == 0) {
            padded(to, nanos / 1_000_000, 3);
        } else if (nanos % 1000 == 0) {
            padded(to, nanos / 1000, 6);
        } else {
            padded(to, nanos, 9);
        }
    }

    private static void dateTime(StringBuilder to, Object o) {
        date(to, part(o, "date"));
        to.append('T');
        time(to, part(o, "time"));
    }

    /** Appends a time of UTC. */
    private static void instant(StringBuilder to, long seconds, int nanos) {
        long days = Math.floorDiv(seconds, 86_400L);
        int second = (int) (seconds - 86_400 * days);
        // The civil date of a day (Howard Hinnant: chrono-compatible low-level date algorithms).
        long z = days + 719_468;
        long era = Math.floorDiv(z, 146_097L);
        long ofEra = z - era * 146_097;
        long yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365;
        long ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        int march = (int) ((5 * ofYear + 2) / 153);
        int month = march < 10 ? march + 3 : march - 9;
        int day = (int) (ofYear - (153L * march + 2) / 5 + 1);
        date(to, yearOfEra + 400 * era + (month <= 2 ? 1 : 0), month, day);
        to.append('T');
        time(to, second / 3600, second / 60 % 60, second % 60, nanos);
        to.append('Z');
    }

    // ---- descriptions ---------------------------------------------------------------------------

    /** Limit for the characters of a description, and for those of one value in it. */
    private static final int DESCRIPTION = 230;
    private static final int MEMBER = 48;

    /**
     * Begins the description of an object: its text if it is a value, else a {@link StringBuilder}
     * with the name of its class; null for null.
     */
    static Object begin(Object o) {
        try {
            String text = text(o);
            if (text != null || o == null) {
                return text;
            }
            return o.getClass().isArray() ? arrayText(o) : new StringBuilder(DESCRIPTION).append(className(o.getClass()));
        } catch (Throwable e) {
            return "(no room)";
        }
    }

    /** Adds a field with a number to a description. */
    static void member(Object description, Object name, long value) {
        try {
            member(description, name, Long.toString(value));
        } catch (Throwable e) {
            // The heap is full: the description lacks this field.
            return;
        }
    }

    static void member(Object description, Object name, double value) {
        try {
            member(description, name, Double.toString(value));
        } catch (Throwable e) {
            return;
        }
    }

    static void letter(Object description, Object name, char value) {
        try {
            member(description, name, String.valueOf(value));
        } catch (Throwable e) {
            return;
        }
    }

    /** Adds a field to a description. */
    static void member(Object description, Object name, String value) {
        try {
            if (!(description instanceof StringBuilder to) || to.length() >= DESCRIPTION) {
                return;
            }
            to.append(to.indexOf("{") < 0 ? "{" : ", ").append(name).append('=');
            cut(to, value, MEMBER);
        } catch (Throwable e) {
            return;
        }
    }

    private static void cut(StringBuilder to, String value, int limit) {
        if (value != null && value.length() > limit) {
            to.append(value, 0, limit).append("...");
        } else {
            to.append(value);
        }
    }

    /** Ends a description. {@code more}: whether the object has more fields than were added. */
    static String end(Object description, Object o, boolean more) {
        try {
            if (!(description instanceof StringBuilder to)) {
                return (String) description;
            }
            if (to.indexOf("{") < 0) {
                long size = size(o);
                return size < 0 ? withIdentity(to, o) : to.append('(').append(size).append(')').toString();
            }
            boolean whole = to.length() < DESCRIPTION && !more;
            if (to.length() > DESCRIPTION) {
                // The last field would be cut in its middle.
                int last = to.lastIndexOf(", ");
                to.setLength(last > 0 ? last : DESCRIPTION);
            }
            return to.append(whole ? "}" : ", ...}").toString();
        } catch (Throwable e) {
            return "(no room)";
        }
    }

    /** The value of a field in the description of its object. */
    static String brief(Object o) {
        try {
            String text = text(o);
            if (text != null || o == null) {
                return text;
            }
            if (o.getClass().isArray()) {
                return arrayText(o);
            }
            String name = className(o.getClass());
            long size = size(o);
            return size < 0 ? name : name + "(" + size + ")";
        } catch (Throwable e) {
            return "?";
        }
    }

    private static String withIdentity(StringBuilder name, Object o) {
        return name.append('@').append(Integer.toHexString(System.identityHashCode(o))).toString();
    }

    /** The class of an array's elements, and its length: {@code int[4]}. */
    private static String arrayText(Object o) {
        return className(o.getClass().getComponentType()) + "[" + VeneerProbe.elements(o) + "]";
    }

    /** The name of a class without its package. */
    private static String className(Class<?> c) {
        String name = c.isArray() ? className(c.getComponentType()) + "[]" : c.getName();
        return name.substring(name.lastIndexOf('.') + 1);
    }
}
