import com.google.common.base.CharMatcher;
import com.google.common.base.Joiner;
import com.google.common.base.Splitter;
import com.google.common.cache.CacheBuilder;
import com.google.common.cache.CacheLoader;
import com.google.common.cache.LoadingCache;
import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.ComparisonChain;
import com.google.common.collect.HashBasedTable;
import com.google.common.collect.ImmutableBiMap;
import com.google.common.collect.ImmutableRangeMap;
import com.google.common.collect.ImmutableSortedMap;
import com.google.common.collect.Iterables;
import com.google.common.collect.Lists;
import com.google.common.collect.MinMaxPriorityQueue;
import com.google.common.collect.Multimaps;
import com.google.common.collect.Multiset;
import com.google.common.collect.Multisets;
import com.google.common.collect.Ordering;
import com.google.common.collect.Range;
import com.google.common.collect.Sets;
import com.google.common.collect.TreeMultiset;
import com.google.common.collect.TreeRangeSet;
import com.google.common.eventbus.EventBus;
import com.google.common.eventbus.Subscribe;
import com.google.common.graph.ElementOrder;
import com.google.common.graph.GraphBuilder;
import com.google.common.graph.Graphs;
import com.google.common.graph.MutableGraph;
import com.google.common.graph.MutableValueGraph;
import com.google.common.graph.Traverser;
import com.google.common.graph.ValueGraphBuilder;
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import com.google.common.hash.Hashing;
import com.google.common.io.BaseEncoding;
import com.google.common.math.BigIntegerMath;
import com.google.common.math.IntMath;
import com.google.common.math.LongMath;
import com.google.common.math.Stats;
import com.google.common.primitives.Ints;
import com.google.common.primitives.UnsignedLongs;
import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.MoreExecutors;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;

/** Guava's collections, caches, graphs, hashes, strings, mathematics and futures. */
public class GuavaProgram {
    public static void main(String[] args) throws Exception {
        for (int round = 1; round <= 2; round++) {
            Random random = new Random(round);
            System.out.println("round " + round);
            collections(random);
            graphs(random);
            cache(random);
            text(random);
            numbers(random);
            concurrent(round);
        }
    }

    private static void collections(Random random) throws Exception {
        ArrayListMultimap<String, Integer> byName = ArrayListMultimap.create();
        Multiset<Integer> bag = TreeMultiset.create();
        HashBasedTable<Integer, String, Long> table = HashBasedTable.create();
        TreeRangeSet<Integer> ranges = TreeRangeSet.create();
        MinMaxPriorityQueue<Integer> queue = MinMaxPriorityQueue.maximumSize(50).create();
        for (int i = 0; i < 20_000; i++) {
            int value = random.nextInt(1000);
            byName.put("n" + value % 37, value);
            bag.add(value % 101);
            table.put(value % 13, "c" + value % 7, (long) i);
            if (i % 50 == 0) ranges.add(Range.closedOpen(value * 3, value * 3 + 5));
            if (i % 70 == 0) ranges.remove(Range.open(value * 2, value * 2 + 9));
            queue.add(value);
        }
        System.out.println(new TreeMap<>(Multimaps.index(byName.values().stream().sorted().limit(30).toList(), v -> v % 4).asMap()));
        System.out.println(Iterables.limit(Multisets.copyHighestCountFirst(bag).entrySet(), 5) + " " + bag.elementSet().size());
        System.out.println(new TreeMap<>(table.column("c3")) + " " + table.size() + " " + ranges.asRanges().size() + " " + Digest.of(ranges.toString()));
        List<Integer> left = new ArrayList<>();
        while (!queue.isEmpty()) { left.add(queue.pollFirst()); if (!queue.isEmpty()) left.add(queue.pollLast()); }
        System.out.println(left);
        ImmutableBiMap<String, Integer> both = ImmutableBiMap.of("one", 1, "two", 2, "three", 3);
        System.out.println(both.inverse() + " " + ImmutableSortedMap.copyOf(both).descendingMap());
        try { ImmutableBiMap.of("a", 1, "b", 1); } catch (IllegalArgumentException e) { System.out.println(e.getMessage()); }
        System.out.println(Sets.powerSet(Sets.newLinkedHashSet(List.of(1, 2, 3))).stream().map(Object::toString).toList());
        System.out.println(Lists.cartesianProduct(List.of(1, 2), List.of(3, 4)) + " " + Sets.combinations(Sets.newTreeSet(List.of(1, 2, 3, 4)), 2).size() + " " + Lists.partition(Ints.asList(1, 2, 3, 4, 5), 2));
        ImmutableRangeMap<Integer, String> bands = ImmutableRangeMap.<Integer, String>builder().put(Range.lessThan(10), "low").put(Range.closed(10, 20), "mid").build();
        System.out.println(bands.get(5) + bands.get(15) + bands.get(25));
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 3000; i++) words.add(Integer.toString(random.nextInt(5000), 36));
        Ordering<String> order = Ordering.from((a, b) -> ComparisonChain.start().compare(a.length(), b.length()).compare(b, a).result());
        System.out.println(order.leastOf(words, 8) + " " + Digest.of(order.immutableSortedCopy(words).toString()));
    }

    private static void graphs(Random random) throws Exception {
        MutableGraph<Integer> graph = GraphBuilder.directed().allowsSelfLoops(false).nodeOrder(ElementOrder.<Integer>natural()).incidentEdgeOrder(ElementOrder.<Integer>stable()).build();
        MutableValueGraph<Integer, Integer> weights = ValueGraphBuilder.undirected().nodeOrder(ElementOrder.<Integer>insertion()).build();
        for (int i = 0; i < 900; i++) {
            int a = random.nextInt(300), b = random.nextInt(300);
            if (a == b) continue;
            graph.putEdge(a, b);
            weights.putEdgeValue(a, b, a * b % 17);
        }
        try { graph.putEdge(1, 1); } catch (IllegalArgumentException e) { System.out.println(e.getMessage()); }
        int first = graph.nodes().iterator().next();
        System.out.println(Graphs.hasCycle(graph) + " " + graph.edges().size() + " " + Graphs.reachableNodes(graph, first).size() + " " + Graphs.transitiveClosure(graph).edges().size());
        System.out.println(Digest.of(Iterables.toString(Traverser.forGraph(graph).breadthFirst(first))) + " " + Digest.of(Iterables.toString(Traverser.forGraph(graph).depthFirstPostOrder(first)))
            + " " + weights.edges().stream().mapToInt(e -> weights.edgeValue(e).get()).sum());
    }

    private static void cache(Random random) throws Exception {
        int[] loads = new int[1];
        LoadingCache<Integer, String> cache = CacheBuilder.newBuilder().maximumSize(100).concurrencyLevel(1).recordStats().removalListener(n -> loads[0] += 1000).build(new CacheLoader<>() {
            @Override public String load(Integer key) throws Exception {
                loads[0]++;
                if (key % 97 == 0) throw new java.io.IOException("no " + key);
                return Integer.toString(key, 2);
            }
        });
        long length = 0;
        int failures = 0;
        for (int i = 0; i < 15_000; i++) {
            try {
                length += cache.get((int) Math.abs(random.nextGaussian() * 80)).length();
            } catch (ExecutionException e) {
                failures++;
            }
            if (i % 1000 == 0) cache.invalidate(i / 1000);
        }
        System.out.println(length + " " + loads[0] + " " + failures + " " + cache.stats().hitCount() + " " + cache.stats().evictionCount() + " " + cache.size());
    }

    private static void text(Random random) throws Exception {
        byte[] bytes = new byte[5000];
        random.nextBytes(bytes);
        System.out.println(Hashing.murmur3_128(5).hashBytes(bytes) + " " + Hashing.sipHash24().hashBytes(bytes) + " " + Hashing.crc32c().hashBytes(bytes) + " " + Hashing.farmHashFingerprint64().hashBytes(bytes) + " " + Hashing.consistentHash(random.nextLong(), 50));
        String coded = BaseEncoding.base32Hex().withSeparator("\n", 60).encode(bytes);
        System.out.println(Digest.of(coded) + " " + java.util.Arrays.equals(bytes, BaseEncoding.base32Hex().withSeparator("\n", 60).decode(coded)));
        System.out.println(Splitter.on(CharMatcher.anyOf(",;")).trimResults().omitEmptyStrings().splitToList(" a, b;;c , d ") + " " + Splitter.fixedLength(3).splitToList("abcdefgh") + " "
            + Splitter.on('&').withKeyValueSeparator('=').split("x=1&y=2") + " " + Joiner.on('|').useForNull("-").join("a", null, 3));
        BloomFilter<CharSequence> filter = BloomFilter.create(Funnels.stringFunnel(StandardCharsets.UTF_8), 2000, 0.02);
        for (int i = 0; i < 2000; i++) filter.put("in" + i);
        int wrong = 0;
        for (int i = 0; i < 5000; i++) if (filter.mightContain("out" + i)) wrong++;
        System.out.println(wrong + " " + filter.mightContain("in77") + " " + CharMatcher.inRange('0', '9').retainFrom(coded).length());
    }

    private static void numbers(Random random) {
        System.out.println(LongMath.binomial(60, 25) + " " + BigIntegerMath.factorial(120).bitLength() + " " + IntMath.gcd(123456, 7890) + " " + LongMath.isPrime(1_000_000_007L) + " " + IntMath.sqrt(99999, RoundingMode.CEILING));
        Stats stats = Stats.of(random.doubles(4000).toArray());
        System.out.println(stats.mean() + " " + stats.populationStandardDeviation() + " " + stats.max() + " " + UnsignedLongs.toString(random.nextLong()) + " " + UnsignedLongs.divide(-5, 7));
        try { IntMath.checkedMultiply(1 << 20, 1 << 20); } catch (ArithmeticException e) { System.out.println(e.getMessage()); }
    }

    private static void concurrent(int round) throws Exception {
        var service = MoreExecutors.listeningDecorator(Executors.newFixedThreadPool(3));
        List<ListenableFuture<Long>> all = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            int n = i;
            ListenableFuture<Long> one = service.submit(() -> { long sum = 0; for (int k = 0; k < 20_000; k++) sum += k * (long) n % 1013; return sum; });
            all.add(Futures.transform(one, v -> v * round, MoreExecutors.directExecutor()));
        }
        System.out.println(Futures.allAsList(all).get().stream().mapToLong(v -> v).sum());
        service.shutdown();
        EventBus bus = new EventBus();
        StringBuilder heard = new StringBuilder();
        bus.register(new Object() {
            @Subscribe public void number(Integer n) { heard.append(n).append(' '); if (n > 0) bus.post(n - 1); }
            @Subscribe public void any(CharSequence s) { heard.append(s).append(' '); }
        });
        bus.post(5);
        bus.post("text");
        System.out.println(heard);
    }
}
