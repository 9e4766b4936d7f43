package guests.visit;

/** A program in a named module; its package is neither exported nor open. */
public class Visit {
    private record Stay(String name, int nights) {
    }

    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        return sum;
    }

    public static void main(String[] args) {
        long sum = 0;
        for (int i = 0; i < 100; i++) {
            Stay stay = new Stay("s" + i, i % 7);
            java.util.function.IntSupplier nights = () -> work(stay.nights());
            sum += nights.getAsInt() + stay.hashCode() % 2 * 0;
        }
        System.out.println("sum " + sum + " in " + Visit.class.getModule());
    }
}
