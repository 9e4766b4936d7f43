/** Three threads call a small method as often as they can. */
public class Hot {
    static volatile int seen;

    static int step(int n) {
        return n * 31 + 7;
    }

    static int steps(int n) {
        int sum = 0;
        for (int i = 0; i < 3; i++) {
            sum += step(n + i);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) {
            Thread thread = new Thread(() -> {
                int n = 0;
                while (true) {
                    n += steps(n);
                    seen = n;
                }
            }, "hot-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        System.in.read();
    }
}
