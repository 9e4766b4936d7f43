package jobs;

/** Loaded by loaders of its own. */
public class Guest implements Timed {
    @Override
    public int run(int n) {
        return 23 * n;
    }
}
