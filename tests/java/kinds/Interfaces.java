package kinds;

/** Virtual and interface calls with one, two and many receivers, defaults, and bridges. */
public class Interfaces {
    interface Shape {
        int area();

        default int twice() {
            return 2 * area();
        }
    }

    interface Named extends Shape {
        @Override
        default int twice() {
            return Shape.super.twice() + 1;
        }
    }

    abstract static class Sized implements Shape {
        final int size;

        Sized(int size) {
            this.size = size;
        }

        @Override
        public int area() {
            return size;
        }

        int hidden() {
            return secret();
        }

        private int secret() {
            return 1;
        }
    }

    static class Square extends Sized {
        Square() {
            super(4);
        }
    }

    static class Circle extends Sized implements Named {
        Circle() {
            super(3);
        }

        @Override
        public int area() {
            return super.area() + 1;
        }
    }

    static class Disc extends Circle {
        @Override
        int hidden() {
            return 2 * super.hidden();
        }
    }

    record Point(int x, int y) implements Shape {
        @Override
        public int area() {
            return x * y;
        }
    }

    enum Fixed implements Shape {
        ONE,
        TWO;

        @Override
        public int area() {
            return ordinal() + 1;
        }
    }

    /** A generic interface, whose implementation has a bridge method. */
    interface Converter<T> {
        int convert(T value);
    }

    static class Length implements Converter<String> {
        @Override
        public int convert(String value) {
            return value.length();
        }
    }

    public static void main(String[] args) {
        Shape[] shapes = {
            new Square(), new Circle(), new Disc(), new Point(2, 3), Fixed.ONE, Fixed.TWO, new Disc(),
        };
        long sum = 0;
        for (int round = 0; round < 300; round++) {
            for (Shape shape : shapes) {
                sum += shape.area() + shape.twice();
                if (shape instanceof Sized) {
                    sum += ((Sized) shape).hidden();
                }
            }
        }
        Converter<String> converter = new Length();
        for (String word : new String[] {"a", "bc", "def"}) {
            sum += converter.convert(word);
        }
        sum += new Point(1, 2).equals(new Point(1, 2)) ? 1 : 0;
        System.out.println(sum);
    }
}
