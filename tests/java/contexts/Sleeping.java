/** Sleeps in nested calls. */
public class Sleeping {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            outer();
        }
    }

    static void outer() throws Exception {
        Thread.sleep(30);
        for (int i = 0; i < 3; i++) {
            inner();
        }
    }

    static void inner() throws Exception {
        Thread.sleep(20);
    }
}
