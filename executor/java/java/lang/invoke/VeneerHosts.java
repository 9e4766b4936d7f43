package java.lang.invoke;

/** The classes that have, or had, versions: a hash table with holes. */
final class VeneerHosts {
    private VeneerHosts() {}

    private static volatile VeneerHost[] table = new VeneerHost[16];

    /** Number of the entries of the table, including those of unloaded classes. */
    private static int entries;

    /** Number of calls of {@link #add}. */
    private static volatile int additions;

    /**
     * Number of exceptions whose trace shows a class of the table. Threads may overwrite each other's
     * changes.
     */
    static int shown;

    /** Adds a version of a class, which is about to be installed. */
    static synchronized void add(Class<?> host, Class<?> version) {
        VeneerHost known = find(host);
        if (known == null) {
            known = new VeneerHost(host);
            insert(known, host);
        }
        known.add(version);
        additions++;
    }

    /** Number of calls of {@link #add}, for {@link #release}. */
    static int additions() {
        return additions;
    }

    /**
     * Called when no platform thread has had an activation in a version of the class since {@link
     * #additions} returned {@code before}, and no activation can enter one. Does nothing if a version
     * has been added since.
     */
    static synchronized boolean release(Class<?> host, long before) {
        VeneerHost known = find(host);
        if (additions != before) {
            return false;
        }
        if (known != null) {
            known.release();
        }
        return true;
    }

    /** Whether the current thread may have an activation in a version of the class. */
    static boolean mayRun(Object host) {
        VeneerHost known = find(host);
        return known != null && known.mayRun();
    }

    private static VeneerHost find(Object host) {
        VeneerHost[] table = VeneerHosts.table;
        for (int i = System.identityHashCode(host) & table.length - 1; table[i] != null; i = i + 1 & table.length - 1) {
            if (table[i].get() == host) {
                return table[i];
            }
        }
        return null;
    }

    private static void insert(VeneerHost added, Class<?> host) {
        VeneerHost[] old = table;
        if (++entries * 2 <= old.length) {
            old[free(old, host)] = added;
            // This volatile write publishes the entry to other threads.
            table = old;
            return;
        }
        int live = 1;
        for (VeneerHost one : old) {
            live += one != null && one.get() != null ? 1 : 0;
        }
        VeneerHost[] larger = new VeneerHost[Math.max(16, Integer.highestOneBit(live) * 4)];
        for (VeneerHost one : old) {
            Object known = one == null ? null : one.get();
            if (known != null) {
                larger[free(larger, known)] = one;
            }
        }
        larger[free(larger, host)] = added;
        entries = live;
        table = larger;
    }

    private static int free(VeneerHost[] table, Object host) {
        int i = System.identityHashCode(host) & table.length - 1;
        while (table[i] != null) {
            i = i + 1 & table.length - 1;
        }
        return i;
    }
}
