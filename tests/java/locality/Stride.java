/**
 * Sums a matrix of 16 MB that one array holds row by row. The slow variant reads it column by column. A column has one
 * element in each of 2,048 cache lines, so a line leaves the cache before the next column reads it again.
 */
public final class Stride {
    private static final int ROWS = 2048;
    private static final int COLUMNS = 1024;

    private Stride() {}

    public static void main(String[] args) {
        boolean isSlow = Rounds.isSlow(args);
        long[] matrix = makeMatrix();
        Rounds rounds = Rounds.begin(args);
        long checksum = 0;
        while (rounds.next()) {
            long sum = isSlow ? sumByColumns(matrix) : sumByRows(matrix);
            checksum = checksum * 31 + sum + rounds.number();
        }
        rounds.end(checksum);
    }

    private static long[] makeMatrix() {
        long[] matrix = new long[ROWS * COLUMNS];
        for (int i = 0; i < matrix.length; i++) {
            matrix[i] = i * 0x9E3779B97F4A7C15L;
        }
        return matrix;
    }

    static long sumByColumns(long[] matrix) {
        long sum = 0;
        for (int column = 0; column < COLUMNS; column++) {
            for (int row = 0; row < ROWS; row++) {
                sum += matrix[row * COLUMNS + column]; // FAULT stride
            }
        }
        return sum;
    }

    static long sumByRows(long[] matrix) {
        long sum = 0;
        for (int row = 0; row < ROWS; row++) {
            for (int column = 0; column < COLUMNS; column++) {
                sum += matrix[row * COLUMNS + column]; // MENDED stride
            }
        }
        return sum;
    }
}
