//! test fragments policy=block
class switch_table {
    static int name(int k) {
        int r;
        switch (k) { // f0 -> f1 f2 f3 f4
            case 1:
                r = 10; // f1 -> f5
                break;
            case 2:
            case 3:
                r = 20; // f2 -> f3
            case 4:
                r = 30; // f3 -> f5
                break;
            default:
                r = 0; // f4 -> f5
        }
        return r; // f5 -> none
    }
}
