//! test types version=48
class inference_try {
    // An exception handler joins the local variables of all instructions of its range.
    static int parse(String text, int other) {
        Object found = null;
            // f0 live-in {text:java.lang.String, other:int} def {other:int, found:java.lang.Integer, n:int} -> f3 !f1 java.lang.IllegalStateException !f1 java.lang.NumberFormatException !f2 any
        int n = 0;
        try {
            found = text;
            n = Integer.parseInt(text);
            found = Integer.valueOf(n);
        } catch (IllegalStateException | NumberFormatException e) {
            // f1 live-in {other:int, found:java.lang.String, s0:java.lang.RuntimeException} def {other:int, n:int, e:java.lang.RuntimeException} -> f3 !f2 any
            n = e.getMessage().length();
        } finally {
            other++;
                // f2 live-in {other:int, s0:java.lang.Throwable} def {other:int, local5:java.lang.Throwable} -> none !f2 any
        }
        return n + other + found.hashCode();
            // f3 live-in {other:int, found:java.lang.Object, n:int} def {} -> none
    }

    static void again(Object lock) throws Throwable {
        Throwable thrown = null;
            // f0 live-in {lock:java.lang.Object} def {thrown:null, local2:java.lang.Object} -> f3 !f1 java.lang.InterruptedException !f2 java.lang.Error !f4 any
        synchronized (lock) {
            try {
                lock.wait();
            } catch (InterruptedException e) {
                // f1 live-in {local2:java.lang.Object, s0:java.lang.InterruptedException} def {thrown:java.lang.InterruptedException, e:java.lang.InterruptedException} -> f3 !f4 any
                thrown = e;
            } catch (Error e) {
                // f2 live-in {local2:java.lang.Object, s0:java.lang.Error} def {thrown:java.lang.Error, e:java.lang.Error} -> f3 !f4 any
                thrown = e;
            }
        }
            // f3 live-in {thrown:java.lang.Throwable, local2:java.lang.Object} def {} -> f5 !f4 any
            // f4 live-in {local2:java.lang.Object, s0:java.lang.Throwable} def {local4:java.lang.Throwable} -> none !f4 any
        if (thrown != null) { // f5 live-in {thrown:java.lang.Throwable} def {} -> f6 f7
            throw thrown; // f6 live-in {thrown:java.lang.Throwable} def {} -> none
        }
    } // f7 live-in {} def {} -> none
}
