//! test fragments policy=loop
class exception_path {
    static int retry(java.util.concurrent.Callable<Integer> call, int times) throws Exception {
        Exception last = null; // f0 -> f1
        while (times-- > 0) {
            // f1 loop -> none !f2 java.lang.IllegalStateException !f2 java.lang.ArithmeticException
            try {
                return call.call();
            } catch (IllegalStateException | ArithmeticException e) { // f2 -> f1
                last = e;
            }
        }
        throw last;
    }
}
