//! test points policy=loop
class loop_at_start {
    int count;

    void forever() {
        while (true) {
            count++; // f0 c0 c1 loop -> f0
        }
    }

    void until(int n) {
        while (true) {
            count++; // f0 c0 c1 exit c2 loop -> f0
            if (count > n) {
                work();
                return;
            }
        }
    }

    void work() {
    } // f0 c0 -> none
}
