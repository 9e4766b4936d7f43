import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/**
 * One activation of {@code observed}, seen by every observer of a running thread's stack while it is in line 34. Each
 * line of output has the observer and the line that it shows for {@code observed}.
 */
public class Observers {
    static final CountDownLatch HERE = new CountDownLatch(1);
    static final CountDownLatch SEEN = new CountDownLatch(1);
    static volatile boolean looked;

    static void callee() throws InterruptedException {
        if (!looked) {
            looked = true;
            report("own", List.of(Thread.currentThread().getStackTrace()));
            report("exception", List.of(new Throwable().getStackTrace()));
            List<StackTraceElement> walked =
                    StackWalker.getInstance().walk(s -> s.map(StackWalker.StackFrame::toStackTraceElement).collect(Collectors.toList()));
            report("walker", walked);
            System.out.println("frames " + walked.size());
            HERE.countDown();
            SEEN.await();
        }
    }

    static int observed(int n) throws InterruptedException {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
            callee();
            sum *= 2;
        }
        return sum;
    }

    static void report(String observer, List<StackTraceElement> frames) {
        long versions = frames.stream().filter(f -> f.getClassName().contains("$V/")).count();
        for (StackTraceElement f : frames) {
            if (f.getMethodName().equals("observed")) {
                System.out.println(observer + " " + f.getLineNumber() + " versions " + versions);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> {
            try {
                observed(3);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        HERE.await();
        report("other", List.of(thread.getStackTrace()));
        report("all", List.of(Thread.getAllStackTraces().get(thread)));
        ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId(), Integer.MAX_VALUE);
        report("management", List.of(info.getStackTrace()));
        if (args.length > 0) {
            // The whole dump, as jstack would print it.
            ProcessHandle own = ProcessHandle.current();
            Process jcmd = new ProcessBuilder(System.getProperty("java.home") + "/bin/jcmd", "" + own.pid(), "Thread.print").start();
            new String(jcmd.getInputStream().readAllBytes()).lines().filter(l -> l.contains("at Observers")).forEach(System.out::println);
        }
        SEEN.countDown();
        thread.join();
    }
}
