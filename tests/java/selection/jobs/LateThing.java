package jobs;

/** Above LateOther; when that comes, nobody knows yet what this is. */
class LateThing {
    int run(int n) {
        return 17 * n;
    }
}
