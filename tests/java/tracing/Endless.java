package tracing;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/**
 * After the line `go`, each thread makes steps without end. The file of its arguments has a number
 * for each thread, which is 2 i before step i and 2 i + 1 after it. The file is mapped, so the
 * numbers remain when the process is killed.
 */
public class Endless {
    private static final VarHandle NUMBER =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        ByteBuffer numbers;
        try (RandomAccessFile file = new RandomAccessFile(args[0], "rw")) {
            numbers = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 8L * threads);
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        in.readLine();
        for (int n = 0; n < threads; n++) {
            int number = n;
            new Thread(() -> run(numbers, number), "endless-" + n).start();
        }
    }

    static void run(ByteBuffer numbers, int number) {
        for (long i = 0;; i++) {
            NUMBER.setVolatile(numbers, 8 * number, 2 * i);
            step((int) (i % 4));
            NUMBER.setVolatile(numbers, 8 * number, 2 * i + 1);
        }
    }

    static int step(int n) {
        return n == 0 ? 1 : inner(n - 1);
    }

    static int inner(int n) {
        return n == 0 ? 1 : 1 + inner(n - 1);
    }
}
