//! A class in no package whose name begins with `L`: its descriptors contain `LL`.

public class Letters {
    private final int value;

    Letters(int value) { // entries 6; exits 6; blocks 6
        this.value = value;
    }

    static Letters[] make(int n) { // entries 1; exits 1
        Letters[] all = new Letters[n]; // blocks 1
        for (int i = 0; i < n; i++) { // blocks 7
            all[i] = new Letters(i); // blocks 6
        }
        return all; // blocks 1
    }

    static int sum(Letters[] all) { // entries 1; exits 1
        int s = 0; // blocks 1
        for (int i = 0; i < all.length; i++) { // blocks 7
            Letters one = all[i]; // blocks 6
            if (one.value % 2 == 0) {
                s += 10; // blocks 3
            }
            Letters other = one.value > 3 ? all[0] : one; // blocks 6 2 4 6
            s += one.value + other.value;
        }
        return s; // blocks 1
    }

    public static void main(String[] args) {
        System.out.println(sum(make(6))); // blocks 1
    }
}
