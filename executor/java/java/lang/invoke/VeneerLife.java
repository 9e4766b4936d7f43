package java.lang.invoke;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/**
 * A followed object in the table of {@code VeneerLives}: its birth and its last use on all clocks. The
 * entry does not keep the object alive.
 */
final class VeneerLife extends WeakReference<Object> {
    /** The identity hash of the object. */
    final int hash;
    /** The next entry of the bucket. */
    volatile VeneerLife next;
    /** The number of the site and class. */
    int row;
    long bornBytes;
    long bornAccesses;
    long bornTime;
    /** The number of collections before the birth. */
    long bornCollections;
    long usedBytes;
    /** The number of accesses up to the last use, which is included; 0 if the object was never used. */
    long usedAccesses;
    long usedTime;

    VeneerLife(Object object, int hash, ReferenceQueue<Object> dead) {
        super(object, dead);
        this.hash = hash;
    }
}
