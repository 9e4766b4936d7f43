import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Streams, futures, fork and join, locks and conditions; on virtual threads if available. */
public class Concurrent {
    record Sale(int shop, String item, int amount, double price) {}

    sealed interface Tree permits Leaf, Node {}
    record Leaf(int value) implements Tree {}
    record Node(Tree left, Tree right) implements Tree {}

    public static void main(String[] args) throws Exception {
        for (int round = 1; round <= 3; round++) {
            System.out.println("round " + round);
            streams(new Random(round));
            references();
            futures(round);
            forkJoin(round);
            threads(round);
            locks();
        }
    }

    private static void streams(Random random) throws Exception {
        List<Sale> sales = IntStream.range(0, 30_000).mapToObj(i -> new Sale(random.nextInt(12), "item" + random.nextInt(90), 1 + random.nextInt(9), random.nextInt(1000) / 4.0)).toList();
        System.out.println(new TreeMap<>(sales.stream().collect(Collectors.groupingBy(Sale::shop, Collectors.summingDouble(s -> s.amount() * s.price())))));
        System.out.println(sales.stream().collect(Collectors.partitioningBy(s -> s.price() > 200, Collectors.mapping(Sale::item, Collectors.collectingAndThen(Collectors.toCollection(java.util.TreeSet::new), s -> s.first() + s.size())))));
        IntSummaryStatistics stats = sales.parallelStream().filter(s -> s.item().endsWith("7")).mapToInt(Sale::amount).summaryStatistics();
        System.out.println(stats);
        System.out.println(sales.stream().sorted(Comparator.comparing(Sale::price).reversed().thenComparing(Sale::item).thenComparingInt(Sale::shop).thenComparingInt(Sale::amount)).limit(3).toList());
        System.out.println(sales.stream().map(Sale::item).distinct().sorted().skip(50).limit(5).collect(Collectors.joining("|", "<", ">")) + " " + sales.stream().takeWhile(s -> s.amount() < 9).count());
        System.out.println(Stream.iterate(new long[] {0, 1}, f -> new long[] {f[1], f[0] + f[1]}).mapToLong(f -> f[0]).limit(60).filter(n -> n % 2 == 0).sum());
        System.out.println(IntStream.rangeClosed(2, 20_000).parallel().filter(n -> IntStream.rangeClosed(2, (int) Math.sqrt(n)).noneMatch(d -> n % d == 0)).boxed().collect(Collectors.reducing(0, (a, b) -> (a * 31 + b) % 1_000_003 == 0 ? a : a ^ b)));
        System.out.println(Stream.of("a b", "c d e", "").flatMap(s -> Arrays.stream(s.split(" "))).map(String::toUpperCase).toList() + " " + Stream.of(5, 3, 8).reduce(1, (a, b) -> a * b) + " " + sales.stream().collect(Collectors.teeing(Collectors.counting(), Collectors.averagingInt(Sale::amount), (n, a) -> n + "/" + a)));
        Map<String, Integer> merged = new ConcurrentHashMap<>();
        sales.parallelStream().forEach(s -> merged.merge(s.item(), s.amount(), Integer::sum));
        System.out.println(Digest.of(new TreeMap<>(merged).toString()));
    }

    /** References to methods that query their caller, in a final class and in another one. */
    private static void references() {
        System.out.println(Stream.of(Sale.class, Leaf.class).map(Class::getDeclaredFields).map(f -> f.length).toList() + " " + Stream.of(Thread.currentThread()).map(Thread::getContextClassLoader).filter(java.util.Objects::nonNull).count());
    }

    private static void futures(int round) throws Exception {
        ExecutorService service = Executors.newFixedThreadPool(4);
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            int n = i;
            all.add(CompletableFuture.supplyAsync(() -> work(n), service).thenCombine(CompletableFuture.supplyAsync(() -> work(n + 1), service), Integer::sum)
                .thenCompose(v -> v % 7 == 0 ? CompletableFuture.failedFuture(new IllegalStateException("seven " + n)) : CompletableFuture.completedFuture(v * round))
                .handle((v, e) -> e == null ? v : -((e instanceof CompletionException c ? c.getCause() : e).getMessage().length())));
        }
        CompletableFuture.allOf(all.toArray(new CompletableFuture[0])).join();
        System.out.println("futures " + all.stream().mapToInt(CompletableFuture::join).sum());
        try {
            CompletableFuture.supplyAsync(() -> { throw new UnsupportedOperationException("thrown"); }, service).thenApply(v -> v + "never").join();
        } catch (CompletionException e) {
            System.out.println(e.getMessage());
        }
        service.shutdown();
    }

    private static int work(int n) {
        int value = n;
        for (int i = 0; i < 3000; i++) value = value * 31 + (value >>> 7 ^ i);
        return value % 1000;
    }

    private static void forkJoin(int round) {
        Tree tree = grow(14, new Random(round));
        System.out.println("tree " + ForkJoinPool.commonPool().invoke(new Sum(tree)) + " " + depth(tree));
    }

    private static Tree grow(int depth, Random random) {
        return depth == 0 || random.nextInt(12) == 0 ? new Leaf(random.nextInt(100)) : new Node(grow(depth - 1, random), grow(depth - 1, random));
    }

    private static int depth(Tree tree) {
        if (tree instanceof Node n) return 1 + Math.max(depth(n.left()), depth(n.right()));
        return 0;
    }

    static class Sum extends RecursiveTask<Long> {
        private final transient Tree tree;

        Sum(Tree tree) {
            this.tree = tree;
        }

        @Override
        protected Long compute() {
            if (tree instanceof Leaf leaf) return (long) leaf.value();
            Node node = (Node) tree;
            Sum left = new Sum(node.left());
            left.fork();
            return new Sum(node.right()).compute() * 3 % 1_000_003 + left.join();
        }
    }

    /** Returns a pool with a virtual thread for each task, if the JDK has virtual threads. */
    private static ExecutorService pool() throws Exception {
        try {
            Method method = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
            return (ExecutorService) method.invoke(null);
        } catch (NoSuchMethodException e) {
            return Executors.newCachedThreadPool();
        }
    }

    private static void threads(int round) throws Exception {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(64);
        AtomicLong sum = new AtomicLong();
        ExecutorService service = pool();
        List<Future<Long>> consumers = new ArrayList<>();
        Function<Integer, Long> step = n -> (long) n * n % 97;
        for (int i = 0; i < 40; i++) {
            consumers.add(service.submit(() -> {
                long own = 0;
                for (int n = queue.take(); n >= 0; n = queue.take()) {
                    own += step.apply(n);
                    sum.addAndGet(n);
                    if (n % 500 == 0) Thread.sleep(1);
                }
                return own;
            }));
        }
        for (int p = 0; p < 4; p++) {
            int from = p * 5000;
            service.submit(() -> { for (int n = from; n < from + 5000; n++) queue.put(n * round); return null; }).get();
        }
        for (int i = 0; i < 40; i++) queue.put(-1);
        long total = 0;
        for (Future<Long> consumer : consumers) total += consumer.get();
        service.shutdown();
        System.out.println("queue " + sum + " " + total);
    }

    private static void locks() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Condition changed = lock.newCondition();
        int[] state = new int[3];
        CyclicBarrier barrier = new CyclicBarrier(3, () -> state[1]++);
        ExecutorService service = pool();
        List<Future<?>> all = new ArrayList<>();
        Object monitor = new Object();
        for (int t = 0; t < 3; t++) {
            int mine = t;
            all.add(service.submit(() -> {
                for (int i = 0; i < 300; i++) {
                    lock.lock();
                    try {
                        while (state[0] % 3 != mine) changed.await();
                        state[0]++;
                        changed.signalAll();
                    } finally {
                        lock.unlock();
                    }
                    synchronized (monitor) {
                        state[2] += i;
                    }
                    if (i % 100 == 0) barrier.await();
                }
                return null;
            }));
        }
        for (Future<?> one : all) one.get();
        service.shutdown();
        System.out.println("locks " + Arrays.toString(state));
    }
}
