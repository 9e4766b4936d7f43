package jobs;

class LateOther extends LateThing {
    @Override
    int run(int n) {
        return super.run(n) + 19;
    }
}
