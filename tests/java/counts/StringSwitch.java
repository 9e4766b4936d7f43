//! A switch on strings: a lookup by hash code with `equals`, then a table. "Aa" and "BB" have the same
//! hash code, so their lookup arm tries two strings.

public class StringSwitch {
    static int old(String s) { // entries 8; exits 8
        int r;
        switch (s) { // blocks 8 6 2 4 3 1 1 8
            case "Aa":
                r = 1; // blocks 3
                break;
            case "BB":
                r = 2; // blocks 2
                break;
            case "zebra":
                r = 3; // blocks 1
                break;
            default:
                r = 4; // blocks 2
        }
        return r; // blocks 8
    }

    static int arrow(String s) { // entries 5; exits 5; timer 5
        return switch (s) { // blocks 5 1 1 2 2 1 1 5 5
            case "one", "two" -> 1; // blocks 3
            case "three" -> 2; // blocks 1
            default -> 0; // blocks 1
        };
    }

    public static void main(String[] args) { // entries 1; exits 1
        String[] words = {"Aa", "BB", "zebra", "C#", "BB", "none", "Aa", "Aa"}; // blocks 1
        int s = 0;
        for (String word : words) { // blocks 9 8
            s = s * 5 + old(word);
        }
        String[] more = {"one", "two", "three", "two", "four"}; // blocks 1
        for (String word : more) { // blocks 6 5
            s = s * 3 + arrow(word);
        }
        System.out.println(s); // blocks 1
    }
}
