//! test liveness policy=block
class handler_liveness {
    static int attempts(String[] all) {
        int done = 0;
            // f0 use {all} def {done, last, local3, local4, local5} live-in {all} live-out {done, local3, local4, local5} -> f1
        int last = 0;
        for (String s : all) {
            // f1 use {local4, local5} def {} live-in {done, local3, local4, local5} live-out {done, local3, local4, local5} loop -> f2 f5
            // f2 use {done, local3, local5} def {done, last, s} live-in {done, local3, local4, local5} live-out {done, local3, local4, local5} -> f4 !f3 java.lang.RuntimeException
            // f4 use {local5} def {local5} live-in {done, local3, local4, local5} live-out {done, local3, local4, local5} -> f1
            try {
                last = Integer.parseInt(s);
                done = done + 1;
            } catch (RuntimeException e) {
                // f3 use {done, s0} def {done, e} live-in {done, local3, local4, local5, s0} live-out {done, local3, local4, local5} -> f4
                done = done - 100;
            }
        }
        return done; // f5 use {done} def {} live-in {done} live-out {} -> none
    }

    static int before(String s) {
        int seen = 1;
            // f0 use {s} def {seen} live-in {s} live-out {} -> f2 !f1 java.lang.RuntimeException
        try {
            seen = 2;
            seen = Integer.parseInt(s);
        } catch (RuntimeException e) {
            // f1 use {seen, s0} def {e} live-in {seen, s0} live-out {} -> none
            return seen;
        }
        return 0; // f2 use {} def {} live-in {} live-out {} -> none
    }
}
