package java.lang.invoke;

import java.lang.ref.WeakReference;
import java.util.Arrays;

/** A class that has, or had, versions: an entry of {@link VeneerHosts}. */
final class VeneerHost extends WeakReference<Class<?>> {
    private static final WeakReference<?>[] NONE = {};

    /** Whether an activation of a platform thread may be in a version. */
    private volatile boolean isCurrent;

    /** The versions that the JVM may not have unloaded. */
    private volatile WeakReference<?>[] versions = NONE;

    VeneerHost(Class<?> host) {
        super(host);
    }

    /** Adds a version that is about to be installed. {@link VeneerHosts} holds a lock. */
    void add(Class<?> version) {
        WeakReference<?>[] old = versions;
        WeakReference<?>[] kept = new WeakReference<?>[old.length + 1];
        int count = 0;
        for (WeakReference<?> one : old) {
            if (one.get() != null) {
                kept[count++] = one;
            }
        }
        kept[count++] = new WeakReference<>(version);
        versions = Arrays.copyOf(kept, count);
        isCurrent = true;
    }

    /** No platform thread has an activation in a version. */
    void release() {
        isCurrent = false;
    }

    /**
     * Whether an activation of the current thread may be in a version. The agent does not see the
     * stacks of virtual threads, so in these every version counts that the JVM has not unloaded.
     */
    boolean mayRun() {
        return isLoaded() && (isCurrent || VeneerRuntime.isVirtual());
    }

    private boolean isLoaded() {
        for (WeakReference<?> one : versions) {
            if (one.get() != null) {
                return true;
            }
        }
        return false;
    }
}
