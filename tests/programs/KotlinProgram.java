import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kotlin.Pair;
import kotlin.collections.ArrayDeque;
import kotlin.collections.CollectionsKt;
import kotlin.collections.MapsKt;
import kotlin.random.Random;
import kotlin.random.RandomKt;
import kotlin.ranges.IntRange;
import kotlin.ranges.RangesKt;
import kotlin.sequences.Sequence;
import kotlin.sequences.SequencesKt;
import kotlin.text.Regex;
import kotlin.text.StringsKt;

/**
 * Bytecode of Kotlin's compiler, called from Java: collections, sequences, strings, ranges, regular
 * expressions, random numbers.
 */
public class KotlinProgram {
    public static void main(String[] args) throws Exception {
        for (int round = 1; round <= 8; round++) {
            System.out.println("round " + round);
            Random random = RandomKt.Random(round);
            List<Integer> list = new ArrayList<>();
            for (int i = 0; i < 4000; i++) list.add(random.nextInt(10_000));
            collections(list, random);
            sequences(round);
            strings(list, random);
            errors(list);
        }
    }

    private static void collections(List<Integer> list, Random random) throws Exception {
        System.out.println(CollectionsKt.take(list, 8) + " " + CollectionsKt.sumOfInt(list) + " " + CollectionsKt.maxOrThrow((Iterable<Integer>) list));
        Map<Integer, List<Integer>> groups = new java.util.TreeMap<>();
        for (int n : list) groups.computeIfAbsent(n % 7, k -> new ArrayList<>()).add(n);
        System.out.println(MapsKt.toList(MapsKt.mapOf(new Pair<>("a", 1), new Pair<>("b", 2))) + " " + Digest.of(MapsKt.toSortedMap(groups).toString()));
        List<Integer> sorted = CollectionsKt.sorted(list);
        System.out.println(CollectionsKt.distinct(sorted).size() + " " + CollectionsKt.binarySearch(sorted, sorted.get(100), 0, sorted.size()) + " " + Digest.of(CollectionsKt.reversed(sorted).toString()));
        System.out.println(CollectionsKt.chunked(list, 999).size() + " " + CollectionsKt.windowed(list, 5, 300, true).size() + " " + Digest.of(CollectionsKt.zipWithNext(list).toString()));
        System.out.println(CollectionsKt.union(list, sorted).size() + " " + CollectionsKt.intersect(CollectionsKt.take(list, 500), CollectionsKt.takeLast(list, 900)).size() + " " + CollectionsKt.subtract(list, CollectionsKt.drop(list, 20)).size());
        System.out.println(Digest.of(CollectionsKt.shuffled(list, random).toString()) + " " + Digest.of(CollectionsKt.joinToString(list, ",", "<", ">", 600, "...", n -> Integer.toHexString(n))));
        ArrayDeque<Integer> deque = new ArrayDeque<>();
        for (int i = 0; i < 6000; i++) {
            switch (random.nextInt(5)) {
                case 0: deque.addFirst(i); break;
                case 1: deque.removeFirstOrNull(); break;
                case 2: if (deque.size() > 3) { deque.add(deque.size() / 2, -i); break; }
                default: deque.addLast(i);
            }
            if (i % 900 == 0) deque.removeIf(n -> n % 5 == 0);
        }
        System.out.println(deque.size() + " " + deque.first() + " " + deque.last() + " " + Digest.of(deque.toString()));
        List<Object> built = CollectionsKt.createListBuilder(4);
        for (int i = 0; i < 900; i++) built.add(i % 3 == 0 ? built.size() / 2 : 0, i);
        built.subList(10, 300).removeIf(o -> (Integer) o % 2 == 0);
        System.out.println(CollectionsKt.build(built).size() + " " + Digest.of(built.toString()));
        Map<Object, Object> map = MapsKt.createMapBuilder();
        for (int i = 0; i < 5000; i++) if (random.nextBoolean()) map.put(random.nextInt(700), i); else map.remove(random.nextInt(700));
        System.out.println(MapsKt.build(map).size() + " " + Digest.of(map.toString()) + " " + map.entrySet().iterator().next());
    }

    private static void sequences(int round) {
        Sequence<Integer> naturals = SequencesKt.generateSequence(1, n -> n + 1);
        System.out.println(SequencesKt.toList(SequencesKt.take(SequencesKt.drop(SequencesKt.filter(naturals, KotlinProgram::prime), 300 * round), 5)));
        System.out.println(SequencesKt.fold(SequencesKt.takeWhile(SequencesKt.map(naturals, n -> n * n % 1009), n -> n != 0), round, (a, b) -> (a * 31 + b) % 1_000_003));
        System.out.println(SequencesKt.joinToString(SequencesKt.flatMap(SequencesKt.take(naturals, 5), n -> SequencesKt.take(naturals, n)), " ", "", "", -1, "", null));
        Sequence<Integer> fibonacci = SequencesKt.map(SequencesKt.generateSequence(new Pair<>(0, 1), p -> new Pair<>(p.getSecond(), p.getFirst() + p.getSecond())), Pair::getFirst);
        System.out.println(SequencesKt.toList(SequencesKt.take(fibonacci, 20)) + " " + SequencesKt.count(SequencesKt.distinct(SequencesKt.take(SequencesKt.map(naturals, n -> n * n % 997), 3000))));
        System.out.println(SequencesKt.toList(SequencesKt.zip(SequencesKt.take(naturals, 3), fibonacci)) + " " + SequencesKt.toList(SequencesKt.chunked(SequencesKt.take(naturals, 7), 3)) + " " + SequencesKt.toList(SequencesKt.windowed(SequencesKt.take(naturals, 9), 4, 3, true)));
        int sum = 0;
        for (int i : RangesKt.step(new IntRange(1, 20_000), 7)) sum = sum * 31 + i;
        System.out.println(sum + " " + RangesKt.coerceIn(round * 100, 150, 350) + " " + RangesKt.reversed(new IntRange(1, 9)) + " " + RangesKt.until(3, 8) + " " + new IntRange(5, 1).isEmpty());
    }

    private static boolean prime(int n) {
        if (n < 2) return false;
        for (int d = 2; d * d <= n; d++) if (n % d == 0) return false;
        return true;
    }

    private static void strings(List<Integer> list, Random random) throws Exception {
        StringBuilder text = new StringBuilder();
        for (int n : CollectionsKt.take(list, 1500)) text.append(Integer.toString(n, 36)).append(" ,;\n".charAt(random.nextInt(4)));
        List<String> words = StringsKt.split(text, new char[] {' ', ',', ';', '\n'}, false, 0);
        System.out.println(words.size() + " " + StringsKt.lines(text).size() + " " + StringsKt.substringBeforeLast(text.toString(), "z", "none").length() + " " + StringsKt.commonPrefixWith("abcdef", "abcxyz", false));
        System.out.println(StringsKt.padStart("7", 3, '0') + StringsKt.repeat("ab", 3) + StringsKt.capitalize("word") + StringsKt.removeSurrounding("<x>", "<", ">") + StringsKt.reversed("abc") + StringsKt.toIntOrNull("12x") + StringsKt.toIntOrNull("-12") + " " + StringsKt.trimMargin("  |a\n   |b", "|"));
        Regex regex = new Regex("([a-z]+)(\\d+)");
        System.out.println(SequencesKt.count(regex.findAll(text, 0)) + " " + Digest.of(regex.replace(text, m -> m.getGroupValues().get(2) + m.getGroupValues().get(1))) + " " + regex.matches("ab12"));
        int sum = 0;
        for (String a : CollectionsKt.take(words, 150)) for (String b : CollectionsKt.take(words, 40)) sum += StringsKt.contains(a, b, true) ? 1 : StringsKt.indexOf(a, b, 0, true) + StringsKt.compareTo(a, b, true) % 3;
        System.out.println(sum + " " + StringsKt.findAnyOf("the quick fox", List.of("fox", "quick"), 0, false) + " " + Digest.of(StringsKt.chunked(text, 17).toString()));
        System.out.println(Digest.of(random.nextBytes(3000)) + " " + random.nextDouble(5.0) + " " + random.nextLong(1000L));
    }

    private static void errors(List<Integer> list) {
        for (Runnable bad : new Runnable[] {
            () -> CollectionsKt.first(CollectionsKt.emptyList()), () -> CollectionsKt.chunked(list, 0), () -> CollectionsKt.single(list), () -> RangesKt.step(new IntRange(1, 5), 0),
            () -> SequencesKt.elementAt(SequencesKt.emptySequence(), 3), () -> CollectionsKt.build(CollectionsKt.<String>createListBuilder()).add("x"),
        }) {
            try {
                bad.run();
                System.out.println("fine");
            } catch (RuntimeException e) {
                System.out.println(e.getClass().getSimpleName() + " " + e.getMessage());
            }
        }
    }
}
