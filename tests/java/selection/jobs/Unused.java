package jobs;

/** Nobody loads it. */
class Unused extends Base {
    @Marked
    void nothing() {
    }
}
