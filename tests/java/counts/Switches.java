//! Switches: dense (tableswitch), sparse (lookupswitch), fall-through, expression with arrows, on an
//! enum, without default, and one whose keys are the extremes of int.

public class Switches {
    enum Colour { RED, GREEN, BLUE } // blocks 1 3 0 11; blocks@25 1 3 0 10

    static int table(int n) { // entries 12; exits 12
        switch (n) { // blocks 12
            case 0:
                return 10; // blocks 2
            case 1:
                return 11; // blocks 2
            case 2:
            case 3:
                return 12; // blocks 4
            default:
                return 13; // blocks 4
        }
    }

    static int sparse(int n) { // entries 6; exits 6
        int r = 0; // blocks 6
        switch (n) {
            case Integer.MIN_VALUE:
                r = 1; // blocks 1
                break;
            case 1000:
                r = 2; // blocks 2
            case 50_000:
                r += 3; // blocks 3
                break;
            case Integer.MAX_VALUE:
                r = 4; // blocks 1
        }
        return r; // blocks 6
    }

    static int arrow(int n) { // entries 12; exits 12; timer 12
        return switch (n) { // blocks 12 12
            case 1, 2, 3 -> 5; // blocks 7
            case 4 -> {
                int t = n * n; // blocks 2
                yield t;
            }
            default -> -1; // blocks 3
        };
    }

    static String colour(Colour c) { // entries 10; exits 10
        return switch (c) { // blocks 10 0 10
            case RED -> "r"; // blocks 4
            case GREEN -> "g"; // blocks 6
            case BLUE -> "b"; // blocks 0
        };
    }

    static int run() { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < 12; i++) { // blocks 13
            s = s * 3 + table(i % 6); // blocks 12
            s += arrow(i % 5);
        }
        return s; // blocks 1
    }

    static String colours() { // entries 1; exits 1
        String s = ""; // blocks 1
        for (int i = 0; i < 10; i++) { // blocks 11
            s += colour(Colour.values()[i * i % 3]); // blocks 10
        }
        return s; // blocks 1
    }

    public static void main(String[] args) { // entries 1; exits 1
        int a = run(); // blocks 1
        int b = sparse(Integer.MIN_VALUE) + sparse(1000) * 10 + sparse(1000) * 100;
        int c = sparse(50_000) + sparse(Integer.MAX_VALUE) * 10 + sparse(7) * 100;
        String d = colours();
        System.out.println(a + " " + b + " " + c + " " + d);
    }
}
