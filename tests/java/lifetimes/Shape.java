/** A superclass with a field of its own. */
abstract class Shape {
    final int size;

    Shape(int size) {
        this.size = size;
    }

    abstract int area();
}

/** A subclass that uses the field of its superclass twice. */
class Circle extends Shape {
    Circle(int size) {
        super(size);
    }

    @Override
    int area() {
        return 3 * size * size;
    }
}

/** A subclass of the subclass. */
class Ring extends Circle {
    Ring(int size) {
        super(size + 1);
    }

    @Override
    int area() {
        return super.area() / 2;
    }
}

/** A class whose constructor fails for even numbers below 4, and for all odd ones. */
class Picky {
    final int number;

    Picky(int number) {
        this.number = number;
        if (number != 4) {
            throw new IllegalArgumentException();
        }
    }
}
