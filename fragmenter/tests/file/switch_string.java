//! test liveness policy=block
class switch_string {
    static int number(String s, int none) {
        switch (s) {
            // f0 use {s} def {local2, local3} live-in {s, none} live-out {none, local2, local3} -> f1 f3 f5
            // f1 use {local2} def {} live-in {none, local2, local3} live-out {none, local3} -> f2 f5
            // f2 use {} def {local3} live-in {none} live-out {none, local3} -> f5
            // f3 use {local2} def {} live-in {none, local2, local3} live-out {none, local3} -> f4 f5
            // f4 use {} def {local3} live-in {none} live-out {none, local3} -> f5
            // f5 use {local3} def {} live-in {none, local3} live-out {none} -> f6 f7 f8
            case "one":
                return 1; // f6 use {} def {} live-in {} live-out {} -> none
            case "two":
                return 2; // f7 use {} def {} live-in {} live-out {} -> none
            default:
                return none; // f8 use {none} def {} live-in {none} live-out {} -> none
        }
    }
}
