package java.lang.invoke;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Frames for activations that leave their code while the heap is full. Without Veneer, the
 * application could meet no {@code OutOfMemoryError} there, so its handlers need not cover that
 * place.
 */
final class VeneerReserve {
    private VeneerReserve() {}

    /** Limit for the activations that move at once on a full heap. */
    private static final int FRAMES = 16;
    /** Number of values in a frame. A multiple of 4, because frames grow by 4. */
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
