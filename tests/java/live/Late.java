import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/**
 * Calls of `turns`, each in a thread of its own. A call loops until it may end, or waits in a
 * method that it calls. Commands: `spin`, `wait` and `fail` start a call, `end` lets one looping
 * or waiting call end, `quick N` makes N calls that end immediately.
 */
public class Late {
    static final Semaphore MAY_END = new Semaphore(0);
    static final Object LOCK = new Object();
    static volatile long sum;

    static void pause() {
        MAY_END.acquireUninterruptibly();
    }

    static int turns(boolean waits, boolean fails, CountDownLatch began) {
        int turns = 0;
        began.countDown();
        if (waits) {
            pause();
            turns = 1;
        } else {
            while (!MAY_END.tryAcquire()) {
                turns = turns + 1 & 0xffff;
            }
        }
        if (fails) {
            throw new IllegalStateException("as asked");
        }
        return turns | 1;
    }

    static int quick(int n) {
        int done = 0;
        for (int i = 0; i < n; i++) {
            MAY_END.release();
            done += turns(false, false, new CountDownLatch(1)) & 1;
        }
        return done;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        CountDownLatch[] ended = new CountDownLatch[1];
        for (String line; (line = in.readLine()) != null && !line.equals("stop");) {
            if (line.startsWith("quick ")) {
                System.out.println("done " + quick(Integer.parseInt(line.substring(6))));
            } else if (line.equals("end")) {
                MAY_END.release();
                ended[0].await();
                System.out.println("done " + sum);
            } else {
                CountDownLatch began = new CountDownLatch(1);
                CountDownLatch end = new CountDownLatch(1);
                ended[0] = end;
                boolean waits = line.equals("wait");
                boolean fails = line.equals("fail");
                new Thread(() -> {
                    try {
                        sum += turns(waits, fails, began) & 1;
                    } catch (IllegalStateException e) {
                        sum += 100;
                    }
                    end.countDown();
                }).start();
                began.await();
                System.out.println("begun");
            }
        }
    }
}
