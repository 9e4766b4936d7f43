package java.lang.invoke;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;

/**
 * A task that one thread has submitted and another one will run, with the calling context of the
 * submission. {@code VeneerContexts} uses the table of all tasks.
 *
 * <p>The table does not keep a task alive. Entries of dead tasks are unlinked when a task is looked up
 * in their bucket. The table has no lock: a bucket is a list that grows at its beginning, and two
 * threads that unlink neighbours at the same time leave at most a dead entry in it.
 */
final class VeneerTask extends WeakReference<Object> {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long NEXT = U.objectFieldOffset(VeneerTask.class, "next");
    /** The number of buckets, a power of two. */
    private static final int BUCKETS = 1 << 12;

    /** The buckets, each an entry of no task before the others; null if no task was submitted. */
    private static volatile VeneerTask[] buckets;

    private volatile long context;
    private volatile VeneerTask next;

    private VeneerTask(Object task, long context, VeneerTask next) {
        super(task);
        this.context = context;
        this.next = next;
    }

    /** Forgets all tasks. */
    static void forgetAll() {
        buckets = null;
    }

    /** Remembers the context of a task. The latest submission counts. */
    static void submit(Object task, long context) {
        VeneerTask[] table = buckets;
        VeneerTask bucket = bucket(table == null ? create() : table, task);
        while (true) {
            VeneerTask first = bucket.next;
            VeneerTask known = search(bucket, task);
            if (known != null) {
                known.context = context;
                return;
            }
            if (U.compareAndSetReference(bucket, NEXT, first, new VeneerTask(task, context, first))) {
                return;
            }
        }
    }

    private static synchronized VeneerTask[] create() {
        VeneerTask[] table = buckets;
        if (table == null) {
            table = new VeneerTask[BUCKETS];
            for (int i = 0; i < BUCKETS; i++) {
                table[i] = new VeneerTask(null, 0, null);
            }
            buckets = table;
        }
        return table;
    }

    /** The context in which a task was submitted; 0 if it is not known. */
    static long contextOf(Object task) {
        VeneerTask[] table = buckets;
        VeneerTask known = table == null || task == null ? null : search(bucket(table, task), task);
        return known == null ? 0 : known.context;
    }

    private static VeneerTask bucket(VeneerTask[] table, Object task) {
        return table[System.identityHashCode(task) & BUCKETS - 1];
    }

    /** Finds the entry of a task in a bucket, and unlinks those of dead tasks. */
    private static VeneerTask search(VeneerTask bucket, Object task) {
        VeneerTask before = bucket;
        for (VeneerTask one = bucket.next; one != null; one = one.next) {
            if (one.refersTo(task)) {
                return one;
            }
            // A new entry may just be added behind the bucket, so its first one stays.
            if (before != bucket && one.refersTo(null)) {
                before.next = one.next;
            } else {
                before = one;
            }
        }
        return null;
    }
}
