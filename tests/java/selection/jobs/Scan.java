package jobs;

@Rest
class Scan implements Task {
    static Task make() {
        return new Scan();
    }

    @Marked
    @Override
    public int run(int n) {
        return plain(n) + guarded(n);
    }

    @Hidden
    @Sourced
    int plain(int n) {
        return 2 * n;
    }

    synchronized int guarded(int n) {
        return 3 * n;
    }
}
