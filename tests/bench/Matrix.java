/**
 * Matrices of doubles: a product whose inner loop the JIT vectorises, and the relaxation of a
 * grid.
 *
 * <p>Arguments: the side of the matrices.
 */
public final class Matrix implements Work {
    private final int side;
    private final double[] a;
    private final double[] b;
    private final double[] c;

    public Matrix(String[] args) {
        side = Integer.parseInt(args[0]);
        a = new double[side * side];
        b = new double[side * side];
        c = new double[side * side];
    }

    @Override
    public long round() {
        for (int i = 0; i < a.length; i++) {
            a[i] = i % 17 / 16.0;
            b[i] = i % 23 / 22.0;
            c[i] = 0;
        }
        multiply();
        for (int turn = 0; turn < 20; turn++) {
            relax();
        }
        long sum = 0;
        for (double value : c) {
            sum = sum * 31 + Double.doubleToLongBits(value);
        }
        return sum;
    }

    private void multiply() {
        double[] a = this.a, b = this.b, c = this.c;
        int side = this.side;
        for (int i = 0; i < side; i++) {
            for (int k = 0; k < side; k++) {
                double factor = a[i * side + k];
                for (int j = 0; j < side; j++) {
                    c[i * side + j] += factor * b[k * side + j];
                }
            }
        }
    }

    private void relax() {
        double[] c = this.c;
        int side = this.side;
        for (int i = 1; i < side - 1; i++) {
            for (int j = 1; j < side - 1; j++) {
                int at = i * side + j;
                c[at] = 0.2 * (c[at] + c[at - 1] + c[at + 1] + c[at - side] + c[at + side]);
            }
        }
    }
}
