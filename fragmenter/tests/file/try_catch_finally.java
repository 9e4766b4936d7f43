//! test fragments policy=block
class try_catch_finally {
    static int parse(String s) {
        int n = -1; // f0 -> f3 !f1 java.lang.NumberFormatException !f2 any
        try {
            n = Integer.parseInt(s);
        } catch (NumberFormatException e) { // f1 -> f3 !f2 any
            n = s.length();
        } finally {
            System.out.println(n); // f2 -> none
        }
        return n; // f3 -> none
    }
}
