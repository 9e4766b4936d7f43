//! test liveness policy=loop
class labelled {
    static int search(int[][] rows, int wanted) {
        int skipped = 0;
            // f0 use {} def {skipped, found, r} live-in {rows, wanted} live-out {rows, wanted, skipped, found, r} -> f1
        int found = -1;
        outer:
        for (int r = 0; r < rows.length; r++) {
            // f1 use {rows, r} def {c} live-in {rows, wanted, skipped, found, r} live-out {rows, wanted, skipped, found, r, c} loop -> f3 f2
            for (int c = 0; c < rows[r].length; c++) {
                // f2 use {rows, wanted, skipped, r, c} def {skipped, found, r, c} live-in {rows, wanted, skipped, found, r, c} live-out {rows, wanted, skipped, found, r, c} loop -> f3 f2 f1
                if (rows[r][c] < 0) {
                    skipped++;
                    continue outer;
                }
                if (rows[r][c] == wanted) {
                    found = r;
                    break outer;
                }
            }
        }
        return found - skipped;
            // f3 use {skipped, found} def {} live-in {skipped, found} live-out {} -> none
    }
}
