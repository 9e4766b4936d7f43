//! Loops of every form: for, while, do-while, endless with break, continue, labelled, for-each.
//! A header is entered once more than its body; `for` has its initialiser in the block before.

public class Loops {
    static int forLoop(int n) { // entries 2; exits 2; timer 2
        int s = 0; // blocks 2
        for (int i = 0; i < n; i++) { // blocks 12
            s += i; // blocks 10
        }
        return s; // blocks 2
    }

    static int whileLoop(int n) { // entries 1; exits 1; timer 1
        int s = 1; // blocks 1
        while (s < n) { // blocks 8
            s *= 2; // blocks 7
        }
        return s; // blocks 1
    }

    static int doLoop(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        do {
            s += n; // blocks 5
            n--;
        } while (n > 0);
        return s; // blocks 1
    }

    static int endless(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        while (true) {
            s += 3; // blocks 7
            if (s > n) {
                break; // blocks 1
            }
        }
        return s; // blocks 1
    }

    static int skipping(int n) { // entries 1; exits 1; timer 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 13 12
            if (i % 3 == 0) { // blocks 12
                continue; // blocks 4
            }
            s += i; // blocks 8
        }
        return s; // blocks 1
    }

    static int labelled(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        outer:
        for (int i = 0; i < n; i++) { // blocks 6 5
            for (int j = 0; j < n; j++) { // blocks 6 23
                if (j == 3) { // blocks 23
                    continue outer; // blocks 5
                }
                if (i + j > 6) { // blocks 18
                    break outer; // blocks 1
                }
                s += i * 10 + j; // blocks 17
            }
        }
        return s; // blocks 1
    }

    static int each(int[] numbers) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int number : numbers) { // blocks 7 6
            s += number;
        }
        return s; // blocks 1
    }

    static long never(int n) { // entries 1; exits 1
        long s = 9; // blocks 1
        for (int i = n; i < 0; i++) { // blocks 1
            s -= i; // blocks 0
        }
        return s; // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1; timer 1
        int a = forLoop(10) + forLoop(0); // blocks 1
        int b = whileLoop(100);
        int c = doLoop(5);
        int d = endless(20);
        int e = skipping(12);
        int f = labelled(9);
        int g = each(new int[] {3, 1, 4, 1, 5, 9});
        long h = never(4);
        System.out.println(a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + g + " " + h);
    }
}
