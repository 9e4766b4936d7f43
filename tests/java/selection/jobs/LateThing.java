package jobs;

/** The superclass of LateOther. Its own supertypes are not known when LateOther is loaded. */
class LateThing {
    int run(int n) {
        return 17 * n;
    }
}
