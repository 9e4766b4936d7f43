import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * A small method with a probe that is called continuously. Veneer compiles the probe into the
 * method, or the probe is written by hand in place of the comment. Its cost is the difference from
 * the plain run, per call.
 *
 * <p>Arguments: the number of calls in a round.
 */
public final class HotProbe implements Work {
    static final class Owner {
        final String name;
        final int weight;

        Owner(String name, int weight) {
            this.name = name;
            this.weight = weight;
        }
    }

    static final class Item {
        final Owner owner;

        Item(Owner owner) {
            this.owner = owner;
        }
    }

    // The tables of the probes written by hand.
    static final LongAdder COUNT = new LongAdder();
    static final LongAdder SUM = new LongAdder();
    static final LongAccumulator LEAST = new LongAccumulator(Math::min, Long.MAX_VALUE);
    static final LongAccumulator GREATEST = new LongAccumulator(Math::max, Long.MIN_VALUE);
    static final ConcurrentHashMap<Object, LongAdder> BY = new ConcurrentHashMap<>();
    static final Map<Item, Long> OWN = new WeakHashMap<>();
    static final AtomicLongArray BUCKETS = new AtomicLongArray(65);

    private final int calls;
    private final Item[] items = new Item[8];

    public HotProbe(String[] args) {
        calls = Integer.parseInt(args[0]);
        for (int i = 0; i < items.length; i++) {
            items[i] = new Item(new Owner("owner " + i, i));
        }
    }

    @Override
    public long round() {
        long value = 1;
        for (int i = 0; i < calls; i++) {
            value = step(value, i, items[i & 7]);
        }
        return value;
    }

    /** A few operations; the result of one call is the argument of the next. */
    static long step(long value, int turn, Item item) {
        /* probe */
        long mixed = (value ^ turn) * 0x9E3779B97F4A7C15L;
        return mixed ^ mixed >>> 29;
    }
}
