package jobs;

class LateLeaf extends LateBase {
    @Override
    public int run(int n) {
        return super.run(n) + own(n);
    }

    @Hidden
    private int own(int n) {
        return 13 * n;
    }
}
