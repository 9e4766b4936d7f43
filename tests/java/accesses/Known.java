import java.io.IOException;
import java.util.function.IntUnaryOperator;

/**
 * Methods with a known number of accesses to fields and to elements of arrays.
 *
 * <p>Usage: {@code Known N [THREADS] [wait]}. The program calls each method with N, the number of iterations of its
 * loop. THREADS is the number of threads that run {@code inThread} (default 4). With {@code wait}, the program first
 * prints {@code pid N} and waits until its standard input ends.
 *
 * <p>At its end, the program prints these lines. The numbers are computed from N and THREADS only.
 *
 * <pre>
 * count METHOD KIND ACCESSED N                 accesses that complete
 * receiver METHOD KIND ACCESSED CLASS N        those accesses of a line `count` whose object is of this class
 * failed METHOD KIND ACCESSED N                accesses that throw an exception; they are in no line `count`
 * checksum X
 * </pre>
 *
 * <p>METHOD has its class: {@code Known.readFields}, {@code Known$Point.<init>}. All overloads have one line. KIND is
 * {@code read}, {@code write}, {@code static-read}, {@code static-write}, {@code array-read} or {@code array-write}.
 * ACCESSED is a field with the class that declares it, or the element type of the array object (not that of the
 * expression). A number of 0 means that the method has no such access although its source looks as if it had one.
 *
 * <p>All methods of this class and of its nested classes that have an access are in the output.
 */
public final class Known {
    static byte staticByte = 1;
    static short staticShort = 2;
    static char staticChar = 3;
    static int staticInt = 4;
    static long staticLong = 5;
    static float staticFloat = 6;
    static double staticDouble = 7;
    static boolean staticBoolean = true;
    static Cell staticCell = new Cell();
    static volatile long staticVolatile;
    static final Object LOCK = new Object();
    static final Stop STOP = new Stop();
    /** A constant: a use of it is not an access. */
    static final int CONSTANT = 17;

    private Known() {}

    /** Has a field of each type. Its constructor has no access, because no field has an initial value. */
    static class Cell {
        byte byteField;
        short shortField;
        char charField;
        int intField;
        long longField;
        float floatField;
        double doubleField;
        boolean booleanField;
        Cell cellField;
        volatile int volatileField;
        private long privateField;
    }

    static final class Stop extends RuntimeException {
        private static final long serialVersionUID = 1;

        Stop() {
            super(null, null, false, false);
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int n = Counts.argument(args, 0, 1000);
        int threads = Counts.argument(args, 1, 4);
        Counts.await(args);
        Counts counts = new Counts();
        countInitialisers(counts);
        long sum = fields(n, counts);
        sum = sum * 31 + statics(n, counts);
        sum = sum * 31 + arrays(n, counts);
        sum = sum * 31 + receivers(n, counts);
        sum = sum * 31 + constructors(n, counts);
        sum = sum * 31 + lambdas(n, counts);
        sum = sum * 31 + exceptions(n, counts);
        sum = sum * 31 + monitors(n, counts);
        sum = sum * 31 + threads(n, threads, counts);
        counts.print(sum);
    }

    private static void countInitialisers(Counts counts) {
        String[] names = {
            "staticByte", "staticShort", "staticChar", "staticInt", "staticLong", "staticFloat", "staticDouble",
            "staticBoolean", "staticCell", "LOCK", "STOP",
        };
        for (String name : names) {
            counts.count("Known.<clinit>", "static-write", "Known." + name, 1);
        }
        counts.count("Known.countInitialisers", "array-write", "java.lang.String", 11);
        counts.count("Known.countInitialisers", "array-read", "java.lang.String", 11);
    }

    // Instance fields.

    private static long fields(int n, Counts counts) {
        Cell cell = new Cell();
        writeFields(cell, n);
        long sum = readFields(cell, n);
        sum += compoundFields(cell, n);
        sum += chosenFields(cell, n);
        sum += volatileField(cell, n);
        sum += privateField(cell, n);
        sum += cellsOfCells(cell, n);
        count(counts, "Known.writeFields", "write", n);
        count(counts, "Known.readFields", "read", n);
        countCompoundFields(n, counts);
        return sum;
    }

    private static void count(Counts counts, String method, String kind, long n) {
        counts.count(method, kind, "Known$Cell.byteField", n);
        counts.count(method, kind, "Known$Cell.shortField", 2 * n);
        counts.count(method, kind, "Known$Cell.charField", 3 * n);
        counts.count(method, kind, "Known$Cell.intField", n);
        counts.count(method, kind, "Known$Cell.longField", 2 * n);
        counts.count(method, kind, "Known$Cell.floatField", 3 * n);
        counts.count(method, kind, "Known$Cell.doubleField", n);
        counts.count(method, kind, "Known$Cell.booleanField", 2 * n);
        counts.count(method, kind, "Known$Cell.cellField", 3 * n);
    }

    private static void countCompoundFields(long n, Counts counts) {
        String method = "Known.compoundFields";
        String[] names = {
            "byteField", "shortField", "charField", "intField", "longField", "floatField", "doubleField",
            "booleanField",
        };
        for (String name : names) {
            counts.count(method, "read", "Known$Cell." + name, n);
        }
        for (String name : names) {
            counts.count(method, "write", "Known$Cell." + name, name.equals("intField") ? 2 * n : n);
        }
        counts.count("Known.countCompoundFields", "array-write", "java.lang.String", 8);
        counts.count("Known.countCompoundFields", "array-read", "java.lang.String", 16);
        counts.count("Known.chosenFields", "read", "Known$Cell.booleanField", n);
        counts.count("Known.chosenFields", "write", "Known$Cell.booleanField", n);
        counts.count("Known.chosenFields", "read", "Known$Cell.intField", multiples(n, 3));
        counts.count("Known.chosenFields", "read", "Known$Cell.longField", n - multiples(n, 3));
        counts.count("Known.volatileField", "read", "Known$Cell.volatileField", 2 * n);
        counts.count("Known.volatileField", "write", "Known$Cell.volatileField", n);
        counts.count("Known.privateField", "read", "Known$Cell.privateField", n);
        counts.count("Known.privateField", "write", "Known$Cell.privateField", n);
        counts.count("Known.cellsOfCells", "write", "Known$Cell.cellField", 1);
        counts.count("Known.cellsOfCells", "read", "Known$Cell.cellField", 3 * n);
        counts.count("Known.cellsOfCells", "write", "Known$Cell.intField", n);
    }

    /** The number of multiples of {@code divisor} from 0 to {@code n - 1}. */
    private static long multiples(long n, int divisor) {
        return (n + divisor - 1) / divisor;
    }

    /** The number of numbers from 0 to {@code n - 1} with this remainder on division by 4. */
    private static long ofFour(long n, int remainder) {
        return (n + 3 - remainder) / 4;
    }

    static void writeFields(Cell cell, int n) {
        for (int i = 0; i < n; i++) {
            cell.byteField = (byte) i;
            cell.shortField = (short) i;
            cell.shortField = (short) (i + 1);
            cell.charField = (char) i;
            cell.charField = (char) (i + 1);
            cell.charField = (char) (i + 2);
            cell.intField = i;
            cell.longField = i;
            cell.longField = i + 1;
            cell.floatField = i;
            cell.floatField = i + 1;
            cell.floatField = i + 2;
            cell.doubleField = i;
            cell.booleanField = i % 2 == 0;
            cell.booleanField = i % 3 == 0;
            cell.cellField = null;
            cell.cellField = cell;
            cell.cellField = null;
        }
    }

    static long readFields(Cell cell, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += cell.byteField;
            sum += cell.shortField + cell.shortField;
            sum += cell.charField + cell.charField * cell.charField;
            sum += cell.intField;
            sum += cell.longField ^ cell.longField;
            sum += (long) (cell.floatField + cell.floatField + cell.floatField);
            sum += (long) cell.doubleField;
            sum += cell.booleanField ? 1 : 2;
            sum += cell.booleanField ? 3 : 4;
            sum += cell.cellField == null ? 1 : 2;
            sum += cell.cellField == cell.cellField ? 1 : 2;
        }
        return sum;
    }

    /** An assignment with an operator reads and writes. The result of an assignment is not read again. */
    static long compoundFields(Cell cell, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            cell.byteField += 3;
            cell.shortField++;
            --cell.charField;
            cell.intField <<= 1;
            sum += cell.longField++;
            sum += (long) (cell.floatField *= 0.5f);
            cell.doubleField -= cell.intField = i;
            cell.booleanField ^= true;
        }
        return sum;
    }

    /** Reads depend on conditions. */
    static long chosenFields(Cell cell, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            cell.booleanField = i % 3 == 0;
            sum += cell.booleanField ? cell.intField : cell.longField;
        }
        return sum;
    }

    static long volatileField(Cell cell, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            cell.volatileField++;
            sum += cell.volatileField;
        }
        return sum;
    }

    /** Accesses a private field of another class of the nest. */
    static long privateField(Cell cell, int n) {
        for (int i = 0; i < n; i++) {
            cell.privateField += i;
        }
        return n;
    }

    static long cellsOfCells(Cell cell, int n) {
        cell.cellField = cell;
        for (int i = 0; i < n; i++) {
            cell.cellField.cellField.cellField.intField = i;
        }
        return n;
    }

    // Static fields.

    static class Totals {
        static long total;
    }

    static class SubTotals extends Totals {
        static int[] table = {1, 2, 3};
    }

    interface Limits {
        /** Not a constant, because the initialiser calls a method. */
        int LIMIT = Integer.parseInt("9");

        default int limit() {
            return LIMIT;
        }
    }

    static final class Limited implements Limits {}

    private static long statics(int n, Counts counts) {
        writeStatics(n);
        long sum = readStatics(n);
        sum += compoundStatics(n);
        sum += inheritedStatics(n);
        sum += constants(n);
        countStatics(counts, "Known.writeStatics", "static-write", n);
        countStatics(counts, "Known.readStatics", "static-read", n);
        for (String kind : new String[] {"static-read", "static-write"}) {
            counts.count("Known.compoundStatics", kind, "Known.staticInt", n);
            counts.count("Known.compoundStatics", kind, "Known.staticLong", n);
            counts.count("Known.compoundStatics", kind, "Known.staticDouble", n);
            counts.count("Known.compoundStatics", kind, "Known.staticVolatile", n);
            counts.count("Known.inheritedStatics", kind, "Known$Totals.total", n);
        }
        counts.count("Known.statics", "array-write", "java.lang.String", 2);
        counts.count("Known.statics", "array-read", "java.lang.String", 2);
        // The first iteration initialises the class.
        counts.count("Known$SubTotals.<clinit>", "array-write", "int", 3 * Math.min(n, 1));
        counts.count("Known$SubTotals.<clinit>", "static-write", "Known$SubTotals.table", Math.min(n, 1));
        counts.count("Known.inheritedStatics", "static-read", "Known$SubTotals.table", n);
        counts.count("Known.inheritedStatics", "array-read", "int", n);
        counts.count("Known$Limits.<clinit>", "static-write", "Known$Limits.LIMIT", 1);
        counts.count("Known$Limits.limit", "static-read", "Known$Limits.LIMIT", n);
        counts.count("Known.constants", "static-read", "Known$Limits.LIMIT", n);
        counts.count("Known.constants", "static-read", "Known.CONSTANT", 0);
        return sum;
    }

    private static void countStatics(Counts counts, String method, String kind, long n) {
        counts.count(method, kind, "Known.staticByte", n);
        counts.count(method, kind, "Known.staticShort", 2 * n);
        counts.count(method, kind, "Known.staticChar", 3 * n);
        counts.count(method, kind, "Known.staticInt", n);
        counts.count(method, kind, "Known.staticLong", 2 * n);
        counts.count(method, kind, "Known.staticFloat", 3 * n);
        counts.count(method, kind, "Known.staticDouble", n);
        counts.count(method, kind, "Known.staticBoolean", 2 * n);
        counts.count(method, kind, "Known.staticCell", 3 * n);
    }

    static void writeStatics(int n) {
        for (int i = 0; i < n; i++) {
            staticByte = (byte) i;
            staticShort = (short) i;
            staticShort = (short) (i + 1);
            staticChar = (char) i;
            staticChar = (char) (i + 1);
            staticChar = (char) (i + 2);
            staticInt = i;
            staticLong = i;
            staticLong = i + 1;
            staticFloat = i;
            staticFloat = i + 1;
            staticFloat = i + 2;
            staticDouble = i;
            staticBoolean = i % 2 == 0;
            staticBoolean = i % 3 == 0;
            staticCell = null;
            staticCell = new Cell();
            staticCell = null;
        }
    }

    static long readStatics(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += staticByte;
            sum += staticShort + staticShort;
            sum += staticChar + staticChar * staticChar;
            sum += staticInt;
            sum += staticLong ^ staticLong;
            sum += (long) (staticFloat + staticFloat + staticFloat);
            sum += (long) staticDouble;
            sum += staticBoolean ? 1 : 2;
            sum += staticBoolean ? 3 : 4;
            sum += staticCell == null ? 1 : 2;
            sum += staticCell == staticCell ? 1 : 2;
        }
        return sum;
    }

    static long compoundStatics(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            staticInt += i;
            sum += staticLong--;
            sum += (long) ++staticDouble;
            staticVolatile++;
        }
        return sum;
    }

    /** The class file names the subclass, and the superclass declares the first field. */
    static long inheritedStatics(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            SubTotals.total += i;
            sum += SubTotals.table[i % 3];
        }
        return sum;
    }

    static long constants(int n) {
        Limited limited = new Limited();
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += CONSTANT + Limits.LIMIT + limited.limit();
        }
        return sum;
    }

    // Elements of arrays.

    private static long arrays(int n, Counts counts) {
        long sum = arraysOfEachType(n);
        sum += compoundElements(new int[4], new long[4], new byte[4], n);
        sum += arraysOfArrays(new int[3][5], new long[2][3][4], n);
        sum += covariantArrays(new String[2], new Integer[2], n);
        sum += initialisers(n);
        sum += eachElement(new char[6], n);
        sum += lengths(new int[7], new Object[3][2], n);
        sum += copies(new int[8], n);
        countElements(n, counts);
        return sum;
    }

    private static void countElements(long n, Counts counts) {
        String[] types = {"byte", "short", "char", "int", "long", "float", "double", "boolean", "Known$Cell"};
        for (String type : types) {
            counts.count("Known.writeElements", "array-write", type, n);
        }
        for (String type : types) {
            counts.count("Known.readElements", "array-read", type, 2 * n);
        }
        counts.count("Known.countElements", "array-write", "java.lang.String", 9 + 3);
        counts.count("Known.countElements", "array-read", "java.lang.String", 18 + 3);
        for (String type : new String[] {"int", "long", "byte"}) {
            counts.count("Known.compoundElements", "array-read", type, n);
            counts.count("Known.compoundElements", "array-write", type, n);
        }
        counts.count("Known.arraysOfArrays", "array-read", "int[]", 2 * n);
        counts.count("Known.arraysOfArrays", "array-write", "int", n);
        counts.count("Known.arraysOfArrays", "array-read", "int", n);
        counts.count("Known.arraysOfArrays", "array-read", "long[][]", 2 * n);
        counts.count("Known.arraysOfArrays", "array-write", "long[]", n);
        counts.count("Known.arraysOfArrays", "array-read", "long[]", n);
        counts.count("Known.arraysOfArrays", "array-read", "long", n);
        counts.count("Known.covariantArrays", "array-write", "java.lang.String", multiples(n, 3));
        counts.count("Known.covariantArrays", "array-write", "java.lang.Integer", n - multiples(n, 3));
        counts.count("Known.covariantArrays", "array-read", "java.lang.String", multiples(n, 3));
        counts.count("Known.covariantArrays", "array-read", "java.lang.Integer", n - multiples(n, 3));
        counts.count("Known.initialisers", "array-write", "int", 3 * n);
        counts.count("Known.initialisers", "array-write", "int[]", n);
        counts.count("Known.initialisers", "array-write", "long", 2 * n);
        counts.count("Known.sumOf", "array-read", "long", 2 * n);
        counts.count("Known.eachElement", "array-read", "char", 6 * n);
        counts.count("Known.lengths", "array-read", "int", 0);
        counts.count("Known.lengths", "array-read", "java.lang.Object[]", n);
        counts.count("Known.copies", "array-read", "int", n);
        counts.count("Known.copies", "array-write", "int", 0);
    }

    private static long arraysOfEachType(int n) {
        byte[] bytes = new byte[8];
        short[] shorts = new short[8];
        char[] chars = new char[8];
        int[] ints = new int[8];
        long[] longs = new long[8];
        float[] floats = new float[8];
        double[] doubles = new double[8];
        boolean[] booleans = new boolean[8];
        Cell[] cells = new Cell[8];
        writeElements(bytes, shorts, chars, ints, longs, floats, doubles, booleans, cells, n);
        return readElements(bytes, shorts, chars, ints, longs, floats, doubles, booleans, cells, n);
    }

    static void writeElements(byte[] bytes, short[] shorts, char[] chars, int[] ints, long[] longs, float[] floats,
            double[] doubles, boolean[] booleans, Cell[] cells, int n) {
        Cell cell = new Cell();
        for (int i = 0; i < n; i++) {
            bytes[i & 7] = (byte) i;
            shorts[i & 7] = (short) i;
            chars[i & 7] = (char) i;
            ints[i & 7] = i;
            longs[i & 7] = i;
            floats[i & 7] = i;
            doubles[i & 7] = i;
            booleans[i & 7] = i % 3 == 0;
            cells[i & 7] = cell;
        }
    }

    static long readElements(byte[] bytes, short[] shorts, char[] chars, int[] ints, long[] longs, float[] floats,
            double[] doubles, boolean[] booleans, Cell[] cells, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += bytes[i & 7] + bytes[7];
            sum += shorts[i & 7] + shorts[6];
            sum += chars[i & 7] + chars[5];
            sum += ints[i & 7] + ints[4];
            sum += longs[i & 7] + longs[3];
            sum += (long) (floats[i & 7] + floats[2]);
            sum += (long) (doubles[i & 7] + doubles[1]);
            sum += booleans[i & 7] ^ booleans[0] ? 1 : 2;
            sum += cells[i & 7] == cells[7] ? 1 : 2;
        }
        return sum;
    }

    static long compoundElements(int[] ints, long[] longs, byte[] bytes, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            ints[i & 3] += i;
            sum += longs[i & 3]++;
            sum += --bytes[i & 3];
        }
        return sum;
    }

    /** An access to an element of the last dimension first reads an element of each other dimension. */
    static long arraysOfArrays(int[][] table, long[][][] space, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            table[i % 3][i % 5] = i;
            sum += table[i % 3][i % 5];
            space[i % 2][i % 3] = new long[4];
            sum += space[i % 2][i % 3][i % 4];
        }
        return sum;
    }

    /** One place accesses arrays of two classes, of which neither is the class of the variable. */
    static long covariantArrays(Object[] texts, Object[] numbers, int n) {
        Integer number = n;
        long sum = 0;
        for (int i = 0; i < n; i++) {
            boolean isText = i % 3 == 0;
            Object[] array = isText ? texts : numbers;
            array[i & 1] = isText ? "text" : number;
            sum += array[0] == null ? 1 : 2;
        }
        return sum;
    }

    /** An array with initial elements writes them one by one, and so does a variable number of arguments. */
    static long initialisers(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            int[][] table = {{i, i + 1, i + 2}};
            sum += table.length;
            sum += sumOf(i, 2);
        }
        return sum;
    }

    static long sumOf(long... numbers) {
        long sum = 0;
        for (long number : numbers) {
            sum += number;
        }
        return sum;
    }

    static long eachElement(char[] chars, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            for (char c : chars) {
                sum += c + 1;
            }
        }
        return sum;
    }

    static long lengths(int[] ints, Object[][] objects, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += ints.length + objects.length + objects[i % 3].length;
        }
        return sum;
    }

    /** The JVM copies the elements, not the method. */
    static long copies(int[] ints, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            int[] copy = ints.clone();
            System.arraycopy(ints, 0, copy, 1, 4);
            sum += copy[i & 7];
        }
        return sum;
    }

    // Objects of several classes.

    static class Shape {
        int size;

        long area() {
            return size;
        }
    }

    static class Circle extends Shape {
        /** Hides the field of the superclass. */
        int size;

        @Override
        long area() {
            return size * 3L + super.size;
        }
    }

    static class Square extends Shape {
        long colour;

        @Override
        long area() {
            colour++;
            return (long) size * this.size;
        }
    }

    private static long receivers(int n, Counts counts) {
        Shape[] shapes = {new Circle(), new Square(), new Circle(), new Shape()};
        resize(shapes, n);
        long sum = sizes(shapes, n);
        sum += areas(shapes, n);
        counts.count("Known.receivers", "array-write", "Known$Shape", 4);
        countReceivers(n, counts);
        return sum;
    }

    private static void countReceivers(long n, Counts counts) {
        long circles = ofFour(n, 0) + ofFour(n, 2);
        long squares = ofFour(n, 1);
        long shapes = ofFour(n, 3);
        counts.count("Known.resize", "array-read", "Known$Shape", n);
        counts.count("Known.resize", "write", "Known$Shape.size", n);
        counts.receiver("Known.resize", "write", "Known$Shape.size", "Known$Circle", circles);
        counts.receiver("Known.resize", "write", "Known$Shape.size", "Known$Square", squares);
        counts.receiver("Known.resize", "write", "Known$Shape.size", "Known$Shape", shapes);
        counts.count("Known.sizes", "array-read", "Known$Shape", n);
        counts.count("Known.sizes", "read", "Known$Shape.size", n);
        counts.receiver("Known.sizes", "read", "Known$Shape.size", "Known$Circle", circles);
        counts.receiver("Known.sizes", "read", "Known$Shape.size", "Known$Square", squares);
        counts.receiver("Known.sizes", "read", "Known$Shape.size", "Known$Shape", shapes);
        counts.count("Known.areas", "array-read", "Known$Shape", n);
        counts.count("Known$Circle.area", "read", "Known$Circle.size", circles);
        counts.count("Known$Circle.area", "read", "Known$Shape.size", circles);
        counts.receiver("Known$Circle.area", "read", "Known$Shape.size", "Known$Circle", circles);
        counts.count("Known$Square.area", "read", "Known$Square.colour", squares);
        counts.count("Known$Square.area", "write", "Known$Square.colour", squares);
        counts.count("Known$Square.area", "read", "Known$Shape.size", 2 * squares);
        counts.receiver("Known$Square.area", "read", "Known$Shape.size", "Known$Square", 2 * squares);
        counts.count("Known$Shape.area", "read", "Known$Shape.size", shapes);
        counts.receiver("Known$Shape.area", "read", "Known$Shape.size", "Known$Shape", shapes);
    }

    static void resize(Shape[] shapes, int n) {
        for (int i = 0; i < n; i++) {
            shapes[i & 3].size = i;
        }
    }

    static long sizes(Shape[] shapes, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += shapes[i & 3].size;
        }
        return sum;
    }

    static long areas(Shape[] shapes, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += shapes[i & 3].area();
        }
        return sum;
    }

    // Constructors.

    static class Point {
        int x;
        final int y = Integer.parseInt("5");
        long z;

        {
            z = 7;
        }

        Point(int x) {
            this.x = x;
        }
    }

    static final class Place extends Point {
        final long height;

        /** Reads a field, a static field and an element before the object is initialised. */
        Place(Cell cell, int[] table) {
            super(cell.intField + staticInt + table[1]);
            height = x;
        }

        Place(Cell cell) {
            this(cell.cellField, new int[] {1, 2});
        }
    }

    record Pair(int left, Cell right) {}

    /** The constructor of an inner class writes the field of the outer object before it calls that of Object. */
    static final class Outer {
        int depth;

        final class Inner {
            int own;

            Inner() {
                own = depth;
            }

            /** Without this use, javac 25 makes no field for the outer object. */
            long sum() {
                return own + depth;
            }
        }
    }

    private static long constructors(int n, Counts counts) {
        Cell cell = new Cell();
        long sum = points(n);
        sum += places(cell, new int[] {8, 9}, n);
        sum += pairs(cell, n);
        sum += inners(new Outer(), n);
        sum += locals(cell, n);
        counts.count("Known.constructors", "array-write", "int", 2);
        countConstructors(n, counts);
        return sum;
    }

    private static void countConstructors(long n, Counts counts) {
        counts.count("Known$Point.<init>", "write", "Known$Point.x", 4 * n);
        counts.count("Known$Point.<init>", "write", "Known$Point.y", 4 * n);
        counts.count("Known$Point.<init>", "write", "Known$Point.z", 4 * n);
        for (String field : new String[] {"x", "y", "z"}) {
            counts.receiver("Known$Point.<init>", "write", "Known$Point." + field, "Known$Point", n);
            counts.receiver("Known$Point.<init>", "write", "Known$Point." + field, "Known$Place", 3 * n);
        }
        counts.count("Known.countConstructors", "array-write", "java.lang.String", 3);
        counts.count("Known.countConstructors", "array-read", "java.lang.String", 3);
        counts.count("Known.points", "read", "Known$Point.x", n);
        counts.count("Known.points", "read", "Known$Point.y", n);
        counts.count("Known.places", "write", "Known$Cell.cellField", 1);
        counts.count("Known.places", "read", "Known$Place.height", n);
        counts.count("Known$Place.<init>", "read", "Known$Cell.cellField", n);
        counts.count("Known$Place.<init>", "array-write", "int", 2 * n);
        counts.count("Known$Place.<init>", "read", "Known$Cell.intField", 3 * n);
        counts.count("Known$Place.<init>", "static-read", "Known.staticInt", 3 * n);
        counts.count("Known$Place.<init>", "array-read", "int", 3 * n);
        counts.count("Known$Place.<init>", "read", "Known$Point.x", 3 * n);
        counts.count("Known$Place.<init>", "write", "Known$Place.height", 3 * n);
        counts.count("Known$Pair.<init>", "write", "Known$Pair.left", n);
        counts.count("Known$Pair.<init>", "write", "Known$Pair.right", n);
        counts.count("Known$Pair.left", "read", "Known$Pair.left", n);
        counts.count("Known$Pair.right", "read", "Known$Pair.right", n);
        counts.count("Known$Outer$Inner.<init>", "write", "Known$Outer$Inner.this$0", n);
        counts.count("Known$Outer$Inner.<init>", "read", "Known$Outer.depth", n);
        counts.count("Known$Outer$Inner.<init>", "write", "Known$Outer$Inner.own", n);
        counts.count("Known$Outer$Inner.sum", "read", "Known$Outer$Inner.own", n);
        counts.count("Known$Outer$Inner.sum", "read", "Known$Outer$Inner.this$0", n);
        counts.count("Known$Outer$Inner.sum", "read", "Known$Outer.depth", n);
        counts.count("Known.inners", "write", "Known$Outer.depth", n);
        counts.count("Known$1Local.<init>", "write", "Known$1Local.val$cell", n);
        counts.count("Known$1Local.<init>", "write", "Known$1Local.val$number", n);
        counts.count("Known$1Local.sum", "read", "Known$1Local.val$cell", n);
        counts.count("Known$1Local.sum", "read", "Known$1Local.val$number", n);
        counts.count("Known$1Local.sum", "read", "Known$Cell.intField", n);
    }

    static long points(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            Point point = new Point(i);
            sum += point.x + point.y;
        }
        return sum;
    }

    static long places(Cell cell, int[] table, int n) {
        cell.cellField = cell;
        long sum = 0;
        for (int i = 0; i < n; i++) {
            Place place = new Place(cell, table);
            new Place(cell, table);
            new Place(cell);
            sum += place.height;
        }
        return sum;
    }

    static long pairs(Cell cell, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            Pair pair = new Pair(i, cell);
            sum += pair.left() + (pair.right() == cell ? 1 : 2);
        }
        return sum;
    }

    static long inners(Outer outer, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            outer.depth = i;
            sum += outer.new Inner().sum();
        }
        return sum;
    }

    /** The constructor of a local class writes the variables of the method before it calls that of Object. */
    static long locals(Cell cell, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            int number = i;
            class Local {
                long sum() {
                    return cell.intField + number;
                }
            }
            sum += new Local().sum();
        }
        return sum;
    }

    // Lambdas.

    static final class Adder {
        int step = 3;
        long sum;

        /** Makes a lambda that accesses fields of this object. */
        Runnable adding() {
            return () -> sum += step;
        }

        void add() {
            sum += 2;
        }
    }

    // javac 17 numbers the lambdas of a class, javac 25 those of a method. The names are the same with both versions
    // only if this method has the first lambdas of the class.
    private static long lambdas(int n, Counts counts) {
        Cell cell = new Cell();
        int[] ints = new int[4];
        long sum = call(x -> x + staticInt, n);
        sum += call(x -> cell.intField++ + x, n);
        sum += call(x -> ints[x & 3] = x, n);
        Adder adder = new Adder();
        run(adder.adding(), n);
        run(adder::add, n);
        counts.count("Known.lambda$lambdas$0", "static-read", "Known.staticInt", n);
        counts.count("Known.lambda$lambdas$1", "read", "Known$Cell.intField", n);
        counts.count("Known.lambda$lambdas$1", "write", "Known$Cell.intField", n);
        counts.count("Known.lambda$lambdas$2", "array-write", "int", n);
        counts.count("Known$Adder.<init>", "write", "Known$Adder.step", 1);
        counts.count("Known$Adder.lambda$adding$0", "read", "Known$Adder.step", n);
        counts.count("Known$Adder.lambda$adding$0", "read", "Known$Adder.sum", n);
        counts.count("Known$Adder.lambda$adding$0", "write", "Known$Adder.sum", n);
        counts.count("Known$Adder.add", "read", "Known$Adder.sum", n);
        counts.count("Known$Adder.add", "write", "Known$Adder.sum", n);
        counts.count("Known.lambdas", "read", "Known$Adder.sum", 1);
        return sum + adder.sum;
    }

    static long call(IntUnaryOperator operator, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += operator.applyAsInt(i);
        }
        return sum;
    }

    static void run(Runnable runnable, int n) {
        for (int i = 0; i < n; i++) {
            runnable.run();
        }
    }

    // Exceptions.

    private static long exceptions(int n, Counts counts) {
        Cell cell = new Cell();
        long sum = thrown(cell, n);
        sum += failedFields(cell, n);
        sum += failedElements(new int[4], n);
        sum += failedStores(new Integer[1], n);
        sum += depths(cell, n);
        countExceptions(n, counts);
        return sum;
    }

    private static void countExceptions(long n, Counts counts) {
        long thrown = multiples(n, 4);
        counts.count("Known.thrown", "write", "Known$Cell.intField", n);
        counts.count("Known.thrown", "write", "Known$Cell.longField", n - thrown);
        counts.count("Known.throwStop", "static-read", "Known.STOP", thrown);
        counts.count("Known.thrown", "read", "Known$Cell.shortField", thrown);
        counts.count("Known.thrown", "write", "Known$Cell.shortField", thrown);
        counts.count("Known.thrown", "read", "Known$Cell.charField", n);
        counts.count("Known.thrown", "write", "Known$Cell.charField", n);
        counts.count("Known.failedFields", "read", "Known$Cell.intField", n - thrown);
        counts.count("Known.failedFields", "write", "Known$Cell.longField", n - thrown);
        counts.failed("Known.failedFields", "read", "Known$Cell.intField", thrown);
        counts.failed("Known.failedFields", "write", "Known$Cell.longField", thrown);
        counts.count("Known.failedElements", "array-read", "int", n - thrown);
        counts.count("Known.failedElements", "array-write", "int", n - thrown);
        counts.failed("Known.failedElements", "array-read", "int", thrown);
        counts.failed("Known.failedElements", "array-write", "int", thrown);
        counts.count("Known.failedStores", "array-write", "java.lang.Integer", n - thrown);
        counts.failed("Known.failedStores", "array-write", "java.lang.Integer", thrown);
        counts.count("Known.depth", "read", "Known$Cell.intField", 5 * n);
        counts.count("Known.depth", "static-read", "Known.STOP", n);
        counts.count("Known.depth", "write", "Known$Cell.longField", 0);
        counts.count("Known.depths", "write", "Known$Cell.intField", n);
    }

    /** The block `finally` is in the class file more than once. */
    static long thrown(Cell cell, int n) {
        for (int i = 0; i < n; i++) {
            try {
                cell.intField = i;
                throwStop(i);
                cell.longField = i;
            } catch (Stop stop) {
                cell.shortField++;
            } finally {
                cell.charField++;
            }
        }
        return n;
    }

    static void throwStop(int i) {
        if (i % 4 == 0) {
            throw STOP;
        }
    }

    static long failedFields(Cell cell, int n) {
        long failures = 0;
        for (int i = 0; i < n; i++) {
            Cell used = i % 4 == 0 ? null : cell;
            long value = 0;
            try {
                value = used.intField;
            } catch (NullPointerException e) {
                failures++;
            }
            try {
                used.longField = value;
            } catch (NullPointerException e) {
                failures++;
            }
        }
        return failures;
    }

    static long failedElements(int[] ints, int n) {
        long failures = 0;
        for (int i = 0; i < n; i++) {
            try {
                failures += ints[i % 4 == 0 ? 4 : 1];
            } catch (ArrayIndexOutOfBoundsException e) {
                failures++;
            }
            try {
                ints[i % 4 == 0 ? -1 : 2] = i;
            } catch (ArrayIndexOutOfBoundsException e) {
                failures++;
            }
        }
        return failures;
    }

    static long failedStores(Object[] objects, int n) {
        Integer number = n;
        long failures = 0;
        for (int i = 0; i < n; i++) {
            try {
                objects[0] = i % 4 == 0 ? "text" : number;
            } catch (ArrayStoreException e) {
                failures++;
            }
        }
        return failures;
    }

    /** Each call of {@code depth} reads a field, and the exception skips the write of all of them. */
    static long depths(Cell cell, int n) {
        long failures = 0;
        for (int i = 0; i < n; i++) {
            cell.intField = i;
            try {
                depth(cell, 5);
            } catch (Stop stop) {
                failures++;
            }
        }
        return failures;
    }

    static void depth(Cell cell, int left) {
        if (left == 0) {
            throw STOP;
        }
        int value = cell.intField;
        depth(cell, left - 1);
        cell.longField = value;
    }

    // Monitors.

    static final class Guarded {
        long count;

        synchronized void add() {
            count++;
        }
    }

    private static long monitors(int n, Counts counts) {
        Cell cell = new Cell();
        Guarded guarded = new Guarded();
        long sum = inBlock(cell, n);
        sum += inStaticBlock(n);
        sum += thrownInBlock(cell, n);
        for (int i = 0; i < n; i++) {
            guarded.add();
            addToStatic();
        }
        counts.count("Known.inBlock", "read", "Known$Cell.longField", n);
        counts.count("Known.inBlock", "write", "Known$Cell.longField", n);
        counts.count("Known.inStaticBlock", "static-read", "Known.LOCK", n);
        counts.count("Known.inStaticBlock", "static-read", "Known.staticLong", n);
        counts.count("Known.inStaticBlock", "static-write", "Known.staticLong", n);
        counts.count("Known.thrownInBlock", "static-read", "Known.LOCK", n);
        counts.count("Known.thrownInBlock", "static-read", "Known.STOP", multiples(n, 4));
        counts.count("Known.thrownInBlock", "write", "Known$Cell.intField", n - multiples(n, 4));
        counts.count("Known$Guarded.add", "read", "Known$Guarded.count", n);
        counts.count("Known$Guarded.add", "write", "Known$Guarded.count", n);
        counts.count("Known.addToStatic", "static-read", "Known.staticInt", n);
        counts.count("Known.addToStatic", "static-write", "Known.staticInt", n);
        return sum;
    }

    static long inBlock(Cell cell, int n) {
        for (int i = 0; i < n; i++) {
            synchronized (cell) {
                cell.longField += i;
            }
        }
        return n;
    }

    static long inStaticBlock(int n) {
        for (int i = 0; i < n; i++) {
            synchronized (LOCK) {
                staticLong++;
            }
        }
        return n;
    }

    static long thrownInBlock(Cell cell, int n) {
        long failures = 0;
        for (int i = 0; i < n; i++) {
            try {
                synchronized (LOCK) {
                    if (i % 4 == 0) {
                        throw STOP;
                    }
                    cell.intField = i;
                }
            } catch (Stop stop) {
                failures++;
            }
        }
        return failures;
    }

    static synchronized void addToStatic() {
        staticInt++;
    }

    // Threads.

    private static long threads(int n, int count, Counts counts) throws InterruptedException {
        Cell shared = new Cell();
        int[] ints = new int[count];
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            threads[i] = new Thread(() -> inThread(shared, ints, number, n), "worker-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long all = (long) n * count;
        counts.count("Known.threads", "array-write", "java.lang.Thread", count);
        counts.count("Known.threads", "array-read", "java.lang.Thread", 2L * count);
        counts.count("Known.inThread", "write", "Known$Cell.intField", all);
        counts.count("Known.inThread", "read", "Known$Cell.intField", all);
        counts.count("Known.inThread", "read", "Known$Cell.longField", all);
        counts.count("Known.inThread", "array-read", "int", all);
        counts.count("Known.inThread", "array-write", "int", 2 * all);
        counts.count("Known.inThread", "static-read", "Known.staticVolatile", all);
        return all;
    }

    /** Each thread has its own cell and its own element, and all threads read one cell and one static field. */
    static void inThread(Cell shared, int[] ints, int number, int n) {
        Cell own = new Cell();
        for (int i = 0; i < n; i++) {
            own.intField = i;
            ints[number] += own.intField + (int) shared.longField;
            ints[number] = (int) staticVolatile;
        }
    }
}
