/** Instructions of many kinds; the comments state their counts. {@code work} runs 100 times. */
public class Sites {
    int field;
    static long total;

    static int work(Sites s, int n, int[] numbers, String text) {
        s.field = n; // 100 writes
        total += s.field; // 100 reads of field, 100 reads and writes of total
        numbers[n % numbers.length] = n; // 100 writes of elements
        int x = numbers[0]; // 100 reads of elements
        Object lock = new Object(); // 100 allocations, 100 calls
        int[] more = new int[n % 3]; // 100 allocations
        synchronized (lock) { // 100 monitor enters, 100 monitor exits
            x += text.length(); // 100 calls
        }
        if (x > 10) { // 100 branches
            x--;
        }
        switch (n % 3) { // 100 switches
            case 0:
                x++;
                break;
            case 1:
                x += 2;
                break;
            default:
        }
        if (n == 7) { // 100 branches
            try {
                throw new IllegalStateException("seven"); // 1 allocation, 1 call, 1 throw
            } catch (IllegalStateException e) {
                x = -1;
            }
        }
        return helper(x, n % 2 == 0) + more.length; // 100 branches, 100 calls
    }

    static int helper(int x, boolean even) {
        return even ? x : -x;
    }

    public static void main(String[] args) {
        Sites s = new Sites();
        int[] numbers = new int[4];
        long sum = 0;
        for (int n = 0; n < 100; n++) {
            sum += work(s, n, numbers, "abc");
        }
        System.out.println("sum " + sum + " total " + total);
    }
}
