package java.lang.invoke;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Frames for activations that leave while the heap is full. The application would not have met an {@code OutOfMemoryError} at the place where
 * an activation leaves, so none of its handlers may cover that place.
 */
final class VeneerReserve {
    private VeneerReserve() {}

    /** As many activations can be on their way at once. */
    private static final int FRAMES = 16;
    /** Values in a frame; a multiple of 4, as frames grow by 4. */
    private static final int VALUES = 64;

    private static final AtomicReferenceArray<VeneerFrame> FREE = new AtomicReferenceArray<>(FRAMES);

    static {
        for (int i = 0; i < FRAMES; i++) {
            FREE.set(i, VeneerFrame.withRoom(VALUES));
        }
    }

    /** Takes a frame out; throws {@code full} if no frame is left. */
    static VeneerFrame take(OutOfMemoryError full) {
        for (int i = 0; i < FRAMES; i++) {
            VeneerFrame frame = FREE.getAndSet(i, null);
            if (frame != null) {
                return frame;
            }
        }
        throw full;
    }

    static void put(VeneerFrame frame) {
        for (int i = 0; i < FRAMES; i++) {
            if (FREE.compareAndSet(i, null, frame)) {
                return;
            }
        }
    }
}
