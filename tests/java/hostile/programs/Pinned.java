import java.lang.ref.WeakReference;

/**
 * Drops a 60 MB array in a running activation and creates another one. With `-Xmx100m`, both do not
 * fit into the heap.
 */
public class Pinned {
    public static void main(String[] args) throws Exception {
        byte[] big = new byte[60 << 20];
        WeakReference<byte[]> weak = new WeakReference<>(big);
        long begun = System.nanoTime();
        long sum = 0;
        while (System.nanoTime() - begun < 3_000_000_000L) {
            sum += big[(int) (sum & 1023)] + 1;
            Thread.sleep(1);
        }
        big = null;
        for (int i = 0; i < 30 && weak.get() != null; i++) {
            System.gc();
            Thread.sleep(20);
        }
        System.out.println("collected " + (weak.get() == null));
        long dropped = System.nanoTime();
        while (System.nanoTime() - dropped < 1_000_000_000L) {
            System.gc();
            Thread.sleep(50);
        }
        System.out.println("collected " + (weak.get() == null));
        byte[] next = new byte[60 << 20];
        System.out.println(next.length);
    }
}
