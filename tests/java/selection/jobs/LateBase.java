package jobs;

/** Loaded during the loading of LateLeaf. */
abstract class LateBase implements Timed {
    @Override
    public int run(int n) {
        return n + 11;
    }
}
