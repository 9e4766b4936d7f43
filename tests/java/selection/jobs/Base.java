package jobs;

/** Implements Task through Timed. */
abstract class Base implements Timed {
    @Override
    public int run(int n) {
        return n + 1;
    }
}
