import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Collections;
import java.util.Comparator;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Scanner;
import java.util.Stack;
import java.util.StringJoiner;
import java.util.StringTokenizer;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.Vector;
import java.util.WeakHashMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * `Library MILLISECONDS`: four threads use collections, locks, pools, exceptions and more of the
 * JDK until the time is over. Each round must give the result of the first round.
 *
 * `Library`: reads commands from standard input. `put N`, `parse N`, `add N`, `lock N` and `push N`
 * make N calls of `HashMap.put`, `new NumberFormatException`, `ArrayList.add`, `ReentrantLock.lock` and
 * `LinkedList.push`, and answer with `done`.
 */
public class Library {
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Condition CHANGED = LOCK.newCondition();
    static final ReentrantReadWriteLock SHARED = new ReentrantReadWriteLock();
    static final Semaphore PERMITS = new Semaphore(2);
    static volatile boolean ends;

    static long lists(int n) {
        List<Integer> list = new ArrayList<>();
        LinkedList<Integer> linked = new LinkedList<>();
        Vector<Integer> vector = new Vector<>();
        Stack<Integer> stack = new Stack<>();
        for (int i = 0; i < n; i++) {
            list.add(i * 7 % 31);
            linked.addFirst(i);
            vector.add(i);
            stack.push(i);
        }
        list.sort(Comparator.reverseOrder());
        Collections.shuffle(list, new Random(5));
        list.removeIf(i -> i % 3 == 0);
        linked.removeLast();
        long sum = 0;
        for (int i : list) {
            sum = sum * 31 + i;
        }
        for (int i : linked) {
            sum = sum * 31 + i;
        }
        return sum + stack.pop() + vector.indexOf(n / 2) + list.subList(1, 4).hashCode();
    }

    static long maps(int n) {
        List<Map<Integer, String>> all = List.of(
                new HashMap<>(), new LinkedHashMap<>(), new TreeMap<>(), new Hashtable<>(), new WeakHashMap<>());
        long sum = 0;
        for (Map<Integer, String> map : all) {
            for (int i = 0; i < n; i++) {
                map.put(i * 17 % 101, "v" + i);
                map.merge(i % 7, "x", String::concat);
            }
            map.computeIfAbsent(-1, k -> "new");
            map.remove(3);
            for (Map.Entry<Integer, String> e : new TreeMap<>(map).entrySet()) {
                sum = sum * 31 + e.getKey() + e.getValue().length();
            }
        }
        Map<Object, Integer> identity = new IdentityHashMap<>();
        identity.put(all, 1);
        return sum + identity.size() + new HashSet<>(all.get(0).values()).size();
    }

    static long queues(int n) {
        PriorityQueue<Integer> queue = new PriorityQueue<>();
        ArrayDeque<Integer> deque = new ArrayDeque<>();
        ConcurrentLinkedQueue<Integer> concurrent = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < n; i++) {
            queue.offer(i * 13 % 29);
            deque.push(i);
            concurrent.add(i);
        }
        long sum = 0;
        while (!queue.isEmpty()) {
            sum = sum * 31 + queue.poll() + deque.pop() + concurrent.poll();
        }
        BitSet bits = new BitSet();
        bits.set(3, 70);
        bits.flip(20);
        return sum + bits.cardinality();
    }

    static long texts(int n) throws Exception {
        StringJoiner joined = new StringJoiner(",", "[", "]");
        for (int i = 0; i < n; i++) {
            joined.add(String.format(Locale.ROOT, "%04d", i));
        }
        StringTokenizer tokens = new StringTokenizer(joined.toString(), ",");
        long sum = tokens.countTokens();
        try (Scanner scanner = new Scanner("1 22 333")) {
            while (scanner.hasNextInt()) {
                sum = sum * 31 + scanner.nextInt();
            }
        }
        sum += Pattern.compile("0+").matcher(joined.toString()).replaceAll("o").hashCode();
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(joined.toString().getBytes("UTF-8"));
        sum = sum * 31 + Base64.getEncoder().encodeToString(digest).hashCode();
        Calendar calendar = new GregorianCalendar(TimeZone.getTimeZone("UTC"), Locale.ROOT);
        calendar.setTime(new Date(1_000_000_000_000L));
        sum = sum * 31 + calendar.get(Calendar.DAY_OF_YEAR);
        return sum + IntStream.range(0, n).boxed().collect(Collectors.groupingBy(i -> i % 3)).hashCode();
    }

    static long exceptions(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            try {
                sum += Integer.parseInt(i % 3 == 0 ? "x" + i : "" + i);
            } catch (NumberFormatException e) {
                sum += e.getMessage().length() + e.getStackTrace().length / 100;
            }
            try {
                throw new IllegalStateException("s", new UnsupportedOperationException());
            } catch (IllegalStateException e) {
                sum += e.getCause() == null ? 0 : 1;
            }
        }
        return sum;
    }

    static long locks(int n, CyclicBarrier barrier) throws Exception {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            LOCK.lock();
            try {
                CHANGED.signalAll();
                sum += LOCK.getHoldCount();
            } finally {
                LOCK.unlock();
            }
            SHARED.readLock().lock();
            sum += SHARED.getReadHoldCount();
            SHARED.readLock().unlock();
            SHARED.writeLock().lock();
            SHARED.writeLock().unlock();
            PERMITS.acquire();
            PERMITS.release();
        }
        barrier.await(60, TimeUnit.SECONDS);
        return sum;
    }

    static long pools(int n, ExecutorService pool) throws Exception {
        List<Future<Integer>> futures = new ArrayList<>();
        CountDownLatch latch = new CountDownLatch(n);
        ArrayBlockingQueue<Integer> queue = new ArrayBlockingQueue<>(n);
        for (int i = 0; i < n; i++) {
            int number = i;
            futures.add(pool.submit(() -> {
                queue.put(number);
                latch.countDown();
                return number * number;
            }));
        }
        long sum = 0;
        for (Future<Integer> future : futures) {
            sum = sum * 31 + future.get();
        }
        latch.await();
        for (int i = 0; i < n; i++) {
            sum += queue.take();
        }
        int doubled = CompletableFuture.supplyAsync(() -> 21, ForkJoinPool.commonPool())
                .thenApplyAsync(i -> i * 2)
                .get();
        return sum + doubled;
    }

    /** A pool of virtual threads if the JDK has them. */
    static ExecutorService threads() throws Exception {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException e) {
            return Executors.newCachedThreadPool();
        }
    }

    static long tasks(int n) throws Exception {
        ExecutorService threads = threads();
        ArrayBlockingQueue<Integer> queue = new ArrayBlockingQueue<>(2);
        for (int i = 0; i < n; i++) {
            int number = i;
            threads.submit(() -> {
                Thread.sleep(1);
                queue.put(number);
                return null;
            });
        }
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += queue.take();
        }
        threads.shutdown();
        threads.awaitTermination(60, TimeUnit.SECONDS);
        return sum;
    }

    static long round(ExecutorService pool, CyclicBarrier barrier) throws Exception {
        long sum = lists(50);
        sum = sum * 31 + maps(40);
        sum = sum * 31 + queues(40);
        sum = sum * 31 + texts(20);
        sum = sum * 31 + exceptions(6);
        sum = sum * 31 + locks(5, barrier);
        sum = sum * 31 + tasks(4);
        return sum * 31 + pools(8, pool);
    }

    static void program(long milliseconds) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CyclicBarrier start = new CyclicBarrier(4);
        String[] results = new String[4];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                try {
                    CyclicBarrier alone = new CyclicBarrier(1);
                    long first = round(pool, start);
                    long different = 0;
                    while (!ends) {
                        different += round(pool, alone) == first ? 0 : 1;
                    }
                    results[number] = first + ", different rounds: " + different;
                } catch (Throwable e) {
                    results[number] = "failed: " + e;
                    e.printStackTrace();
                }
            });
            thread.start();
            threads.add(thread);
        }
        Thread.sleep(milliseconds);
        ends = true;
        for (Thread thread : threads) {
            thread.join();
        }
        pool.shutdown();
        System.out.println(pool.awaitTermination(60, TimeUnit.SECONDS));
        for (String result : results) {
            System.out.println(result);
        }
    }

    static void command(String name, int n) {
        HashMap<Integer, Integer> map = new HashMap<>();
        ArrayList<Integer> list = new ArrayList<>();
        LinkedList<Integer> linked = new LinkedList<>();
        for (int i = 0; i < n; i++) {
            switch (name) {
                case "put" -> map.put(i, i);
                case "add" -> list.add(i);
                case "push" -> linked.push(i);
                case "parse" -> new NumberFormatException("x");
                default -> {
                    LOCK.lock();
                    LOCK.unlock();
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            program(Long.parseLong(args[0]));
            return;
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        // This uses none of the counted methods.
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        String line;
        while ((line = input.readLine()) != null && !line.equals("stop")) {
            int space = line.indexOf(' ');
            command(line.substring(0, space), Integer.parseInt(line, space + 1, line.length(), 10));
            System.out.println("done");
        }
    }
}
