package jobs;

/** The program never loads this class. */
class Unused extends Base {
    @Marked
    void nothing() {
    }
}
