/** Uses Redefined before and after another agent has redefined it with 2222 in place of 1111. */
public class Redefining {
    public static void main(String[] args) throws Exception {
        boolean[] turned = new boolean[1];
        Thread spinner = new Thread(() -> turned[0] = Redefined.spin());
        spinner.start();
        Thread.sleep(300);
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += Redefined.value(3);
        }
        System.out.println("before " + Redefined.value(3) + " " + sum);
        byte[] bytes;
        try (java.io.InputStream in = Redefining.class.getResourceAsStream("Redefined.class")) {
            bytes = in.readAllBytes();
        }
        for (int i = 0; i + 1 < bytes.length; i++) {
            // Every occurrence of 1111.
            if (bytes[i] == 1111 >> 8 && bytes[i + 1] == (byte) 1111) {
                bytes[i] = 2222 >> 8;
                bytes[i + 1] = (byte) 2222;
            }
        }
        for (int turn = 0; turn < 3; turn++) {
            Other.redefine(Redefined.class, bytes);
            sum = 0;
            for (int i = 0; i < 1000; i++) {
                sum += Redefined.value(3);
            }
            System.out.println("after " + Redefined.value(3) + " " + sum);
            Thread.sleep(100);
        }
        Redefined.stopped = true;
        spinner.join();
        System.out.println("turned " + turned[0]);
    }
}
