package observed;

/** Allocates a known number of bytes in objects of one class, and lets them all die. */
class Heap {
    /** An object of 16 words and a header. */
    static final class Block {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
    }

    static final int BLOCKS = 1_500_000;
    static Block[] kept = new Block[1024];

    static void all() throws Exception {
        Thread allocator = new Thread(Heap::allocate, "allocator");
        allocator.start();
        allocator.join();
        kept = new Block[1024];
        System.gc();
        // HotSpot reports deaths some time after the collection.
        Thread.sleep(1_000);
        System.out.println("blocks " + BLOCKS);
    }

    static void allocate() {
        for (int i = 0; i < BLOCKS; i++) {
            kept[i & 1023] = new Block();
        }
    }
}
