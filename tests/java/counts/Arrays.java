//! Arrays of every element type, several dimensions, ragged, with initialisers, aliased, with a store
//! that fails in a loop.

public class Arrays {
    static int grid(int rows, int columns) { // entries 1; exits 1
        int[][] grid = new int[rows][columns]; // blocks 1
        for (int r = 0; r < rows; r++) { // blocks 6 5
            for (int c = 0; c < columns; c++) { // blocks 5 45
                grid[r][c] = r * c; // blocks 40
            }
        }
        int s = 0; // blocks 1
        for (int[] row : grid) { // blocks 6 5 5
            for (int n : row) { // blocks 45 40
                s += n;
            }
        }
        return s; // blocks 1
    }

    static long ragged(int n) { // entries 1; exits 1; timer 1
        long[][][] deep = new long[n][][]; // blocks 1
        long s = 0;
        for (int i = 0; i < n; i++) { // blocks 7 6
            deep[i] = new long[i][2]; // blocks 6
            for (int j = 0; j < i; j++) { // blocks 21
                deep[i][j][1] = i + j; // blocks 15
                s += deep[i][j][0]++ + deep[i][j][1];
            }
        }
        return s; // blocks 1
    }

    static double every() { // entries 1; exits 1
        boolean[] z = {true, false}; // blocks 1
        byte[] b = {1, -1};
        short[] s = {300, -300};
        char[] c = {'a', 'b'};
        float[] f = {0.5f, 1.5f};
        double[] d = {0.25, 4};
        long[] l = {1L << 35, 2};
        Object[] o = {"x", 1};
        double sum = 0;
        for (int i = 0; i < 2; i++) { // blocks 3
            sum += (z[i] ? 1 : 2) + b[i] + s[i] + c[i] + f[i] + d[i] + l[i] + o[i].toString().length(); // blocks 2 1 1 2
        }
        return sum; // blocks 1
    }

    static int stores(Object[] target, Object[] values) { // entries 1; exits 1
        int failed = 0; // blocks 1
        for (int i = 0; i < values.length; i++) { // blocks 6 5
            try {
                target[i] = values[i]; // blocks 5
            } catch (ArrayStoreException | IndexOutOfBoundsException e) { // blocks 3
                failed++;
            }
        }
        return failed; // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = grid(5, 8); // blocks 1
        long b = ragged(6);
        double c = every();
        int d = stores(new String[3], new Object[] {"a", 1, null, "b", 2L});
        System.out.println(a + " " + b + " " + c + " " + d);
    }
}
