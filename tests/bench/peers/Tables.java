import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

import org.jboss.byteman.rule.Rule;
import org.jboss.byteman.rule.helper.Helper;

/** The helper that Byteman's rules call to count and to sum, in idiomatic Java. */
public class Tables extends Helper {
    private static final LongAdder COUNT = new LongAdder();
    private static final LongAdder SUM = new LongAdder();
    private static final LongAccumulator LEAST = new LongAccumulator(Math::min, Long.MAX_VALUE);
    private static final LongAccumulator GREATEST = new LongAccumulator(Math::max, Long.MIN_VALUE);
    private static final ConcurrentHashMap<Object, LongAdder> BY = new ConcurrentHashMap<>();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            long all = COUNT.sum();
            for (LongAdder one : BY.values()) {
                all += one.sum();
            }
            System.err.println("hits: " + all);
        }));
    }

    public Tables(Rule rule) {
        super(rule);
    }

    public void count() {
        COUNT.increment();
    }

    public void count(int key) {
        BY.computeIfAbsent((long) key, k -> new LongAdder()).increment();
    }

    public void add(int value) {
        COUNT.increment();
        SUM.add(value);
        LEAST.accumulate(value);
        GREATEST.accumulate(value);
    }
}
