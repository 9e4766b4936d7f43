/**
 * Methods of many shapes that are called and run their loops for two seconds, while a plan changes
 * their instruments. The program prints only results that do not depend on its speed.
 */
public class Changing {
    static int sort(int[] a) {
        int swaps = 0;
        for (int i = 1; i < a.length; i++) {
            int x = a[i];
            int j = i - 1;
            while (j >= 0 && a[j] > x) {
                a[j + 1] = a[j];
                j--;
                swaps++;
            }
            a[j + 1] = x;
        }
        return swaps;
    }

    static int parse(String text) {
        int sum = 0;
        for (String word : text.split(" ")) {
            try {
                sum += Integer.parseInt(word);
            } catch (NumberFormatException e) {
                sum--;
            } finally {
                sum ^= 1;
            }
        }
        return sum;
    }

    static synchronized int choose(int n) {
        switch (n % 5) {
            case 0:
                return n;
            case 1:
                n++;
            case 2:
                n += 3;
                break;
            case 3:
                throw new IllegalArgumentException();
            default:
                n = -n;
        }
        return n > 0 ? n : choose(n + 7 < 0 ? 0 : n + 7);
    }

    static long run(long end) {
        long turns = 0;
        do {
            int[] a = new int[40];
            for (int i = 0; i < a.length; i++) {
                a[i] = (int) ((i * 31 + turns) % 17);
            }
            sort(a);
            for (int i = 1; i < a.length; i++) {
                if (a[i - 1] > a[i]) {
                    throw new AssertionError("not sorted");
                }
            }
            parse("12 x 7 yy 9");
            for (int i = 0; i < 9; i++) {
                try {
                    choose(i);
                } catch (IllegalArgumentException e) {
                    turns += 0;
                }
            }
            turns++;
        } while (System.nanoTime() < end);
        return turns;
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + 2_000_000_000L;
        Thread[] threads = new Thread[3];
        boolean[] ran = new boolean[threads.length];
        for (int t = 0; t < threads.length; t++) {
            int n = t;
            threads[t] = new Thread(() -> ran[n] = run(end) > 0);
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (boolean r : ran) {
            System.out.println(r);
        }
    }
}
