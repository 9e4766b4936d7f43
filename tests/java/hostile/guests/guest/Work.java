package guest;

import java.util.function.IntUnaryOperator;
import other.Base;
import other.Unseen;

/**
 * Descriptors, variables, fields and arrays of classes that are loaded late or never.
 *
 * Before the JIT compiles a method, the JVM loads all classes of its descriptor. So methods with
 * such classes in their descriptors run less than 100 times, which is too seldom for compilation.
 * Methods that run all the time have such classes only in their code.
 */
public class Work extends Base implements IntUnaryOperator {
    /** The argument for the methods that run seldom. */
    static final int SELDOM = -10;

    private Never kept;
    private static Never[][] shared;

    @Override
    public int applyAsInt(int n) {
        return switch (n) {
            case -1 -> late(new Late(4), 3);
            case -2 -> unusual(true, 3);
            case -3 -> late(null, 3) + new Later().late() + later(true, 3);
            case SELDOM -> seldom(5);
            default -> {
                int sum = n;
                sum = sum * 31 + members(n);
                sum = sum * 31 + heir(n);
                sum = sum * 31 + later(false, n);
                sum = sum * 31 + caught(n);
                sum = sum * 31 + locked(n);
                sum = sum * 31 + classLocked(n);
                sum = sum * 31 + unusual(false, n);
                sum = sum * 31 + (made(n) == null ? 1 : 2);
                yield sum;
            }
        };
    }

    /** Calls the methods whose descriptors mention classes that are never loaded. */
    private int seldom(int n) {
        int sum = choose(null, null, n) == null ? n : -1;
        sum = sum * 31 + (arrays(null, null, n) == null ? n : -1);
        sum = sum * 31 + late(null, n);
        sum = sum * 31 + step(null, null, n);
        sum = sum * 31 + (Base.none(unseen, n) == null ? n : -1);
        return sum;
    }

    static Opt choose(Opt opt, Never never, int turns) {
        Opt best = opt;
        for (int i = 0; i < turns; i++) {
            if (best != null) {
                best.use(never);
            }
            if (never != null) {
                best = never.opt;
            }
        }
        return best;
    }

    static Never[] arrays(Never[] row, Never[][] grid, int turns) {
        Never[] last = row;
        for (int i = 0; i < turns; i++) {
            if (grid != null) {
                last = grid[i];
            }
            if (last != null && last[0] != null) {
                last[0].opt = null;
            }
        }
        return last;
    }

    static int late(Late late, int turns) {
        int sum = 0;
        for (int i = 0; i < turns; i++) {
            sum += late != null ? late.value : 5;
        }
        return sum;
    }

    @Override
    protected int step(Unseen unseen, Unseen[] row, int i) {
        int sum = 0;
        for (int k = 0; k < 2; k++) {
            sum += super.step(unseen, row, i + k);
        }
        return sum;
    }

    int members(int turns) {
        int sum = 0;
        for (int i = 0; i < turns; i++) {
            Unseen one = unseen;
            if (one != null) {
                one.use();
            }
            unseen = one;
            grid = one == null ? grid : new Unseen[1][1];
            shared = kept == null ? shared : new Never[1][1];
            kept = shared == null ? null : shared[0][0];
            sum += count + (Base.shared == null ? 1 : 0);
        }
        return sum;
    }

    /** Protected members of the superclass, which the code names by a subclass that is never loaded. */
    int heir(int turns) {
        int sum = 0;
        Heir heir = null;
        for (int i = 0; i < turns; i++) {
            if (heir != null) {
                heir.unseen = Heir.none(heir.unseen, i);
                sum += heir.count + heir.step(null, null, i);
            }
            sum += turns > 100_000 && Heir.none(null, i) == null ? 1 : i;
        }
        return sum;
    }

    /** As {@link #heir}, with a subclass that is loaded in the third phase. */
    int later(boolean now, int turns) {
        int sum = 0;
        Later later = now ? new Later() : null;
        for (int i = 0; i < turns; i++) {
            if (later != null) {
                later.unseen = Later.none(later.unseen, i);
                sum += later.count + later.inherited(i);
            }
            sum += i;
        }
        return sum;
    }

    static int caught(int turns) {
        int sum = 0;
        for (int i = 0; i < turns; i++) {
            Never never = null;
            try {
                if (i % 3 == 0) {
                    throw new IllegalStateException("thrown");
                }
                sum += never == null ? 2 : 3;
            } catch (IllegalStateException e) {
                sum += never == null ? 7 : 8;
            } finally {
                sum++;
            }
        }
        return sum;
    }

    synchronized int locked(int turns) {
        int sum = 0;
        for (int i = 0; i < turns; i++) {
            Never never = kept;
            synchronized (this) {
                sum += never == null ? i : -1;
            }
        }
        return sum;
    }

    static synchronized int classLocked(int turns) {
        int sum = 0;
        Never[][] never = shared;
        for (int i = 0; i < turns; i++) {
            sum += never == null ? i : -1;
        }
        return sum;
    }

    /** In the variant `throws`, the loader fails for these three classes, each in another way. */
    static int unusual(boolean now, int turns) {
        int sum = 0;
        for (int i = 0; i < turns; i++) {
            Absent absent = null;
            Broken broken = null;
            Worse worse = null;
            if (now) {
                try {
                    absent = new Absent();
                } catch (NoClassDefFoundError e) {
                    sum += 10;
                }
                try {
                    broken = new Broken();
                } catch (IllegalStateException | NoClassDefFoundError e) {
                    sum += 100;
                }
                try {
                    worse = new Worse();
                } catch (StackOverflowError | NoClassDefFoundError e) {
                    sum += 1000;
                }
            }
            sum += absent == null ? 1 : 2;
            sum += broken == null ? 1 : 2;
            sum += worse == null ? 1 : 2;
        }
        return sum;
    }

    /**
     * Call sites and allocations of a class that is never loaded, on a path that is never executed.
     */
    static Object made(int turns) {
        Never never = null;
        for (int i = 0; i < turns; i++) {
            if (turns > 100_000) {
                never = new Never(never, new Never[3], () -> 5);
                Object other = never;
                if (other instanceof Opt opt) {
                    opt.use((Never) other);
                }
            }
        }
        return never;
    }
}
