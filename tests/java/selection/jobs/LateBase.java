package jobs;

/** Loaded in the course of the loading of LateLeaf. */
abstract class LateBase implements Timed {
    @Override
    public int run(int n) {
        return n + 11;
    }
}
