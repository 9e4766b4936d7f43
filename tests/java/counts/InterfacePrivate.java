//! Private and static methods of interfaces, called from default methods.

public class InterfacePrivate {
    interface Shape {
        int side();

        private int squared(int n) { // entries 24; exits 24; timer 24
            return n * n; // blocks 24
        }

        private static int positive(int n) { // entries 8; exits 8; timer 8
            return n < 0 ? -n : n; // blocks 8 4 4 8
        }

        static Shape of(int n) { // entries 8; exits 8
            return new Square(positive(n)); // blocks 8
        }

        default int area() { // entries 8; exits 8; timer 8
            int s = 0; // blocks 8
            for (int i = 0; i < 3; i++) { // blocks 32
                s += squared(side() + i); // blocks 24
            }
            return s; // blocks 8
        }
    }

    record Square(int side) implements Shape {} // blocks 8 0 0 24 0

    public static void main(String[] args) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = -4; i < 4; i++) { // blocks 9
            s = s * 3 + Shape.of(i).area(); // blocks 8
        }
        System.out.println(s); // blocks 1
    }
}
