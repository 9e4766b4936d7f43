//! Nested loops: counts multiply. Triangles, three levels, a loop after a loop, a loop in each arm.

public class NestedLoops {
    static int square(int n) { // entries 1; exits 1; timer 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 31 30
            for (int j = 0; j < n; j++) { // blocks 30 930
                s += i ^ j; // blocks 900
            }
        }
        return s; // blocks 1
    }

    static int triangle(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 21 20
            for (int j = 0; j < i; j++) { // blocks 20 210
                s += j; // blocks 190
            }
        }
        return s; // blocks 1
    }

    static long cube(int n) { // entries 1; exits 1; timer 1
        long s = 0; // blocks 1
        int i = 0;
        while (i < n) { // blocks 8
            int j = 0; // blocks 7
            while (j < n) { // blocks 56
                int k = 0; // blocks 49
                do {
                    s += (long) i * j * k; // blocks 343
                    k++;
                } while (k < n);
                j++; // blocks 49
            }
            i++; // blocks 7
        }
        return s; // blocks 1
    }

    static int arms(int n) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 10 9
            if ((i & 1) == 0) { // blocks 9
                for (int j = 0; j < 2; j++) { // blocks 5 15 5
                    s += j + 1; // blocks 10
                }
            } else {
                for (int j = 0; j < 3; j++) { // blocks 4 16
                    s -= j; // blocks 12
                }
            }
        }
        for (int i = 0; i < 4; i++) { // blocks 1 5
            s += 100; // blocks 4
        }
        return s; // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = square(30); // blocks 1
        int b = triangle(20);
        long c = cube(7);
        int d = arms(9);
        System.out.println(a + " " + b + " " + c + " " + d);
    }
}
