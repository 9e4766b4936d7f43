/**
 * Sums one field of 300,000 orders. In the slow variant, each order is an object of 56 or 64 bytes, so each read of the
 * field loads a cache line of which the sum needs 8 bytes. In the fast variant, each field is an array of its own.
 */
public final class Records {
    private static final int COUNT = 300_000;

    private Records() {}

    static final class Order {
        final long number;
        final long customer;
        final long price;
        final long quantity;
        final long discount;
        final long date;

        Order(long number) {
            this.number = number;
            customer = number * 31 % 9973;
            price = priceOf(number);
            quantity = number % 17;
            discount = number % 5;
            date = number / 100;
        }
    }

    /** The fields of the orders, one array for each field. */
    static final class Columns {
        final long[] numbers = new long[COUNT];
        final long[] customers = new long[COUNT];
        final long[] prices = new long[COUNT];
        final long[] quantities = new long[COUNT];
        final long[] discounts = new long[COUNT];
        final long[] dates = new long[COUNT];

        Columns() {
            for (int i = 0; i < COUNT; i++) {
                numbers[i] = i;
                customers[i] = i * 31L % 9973;
                prices[i] = priceOf(i);
                quantities[i] = i % 17;
                discounts[i] = i % 5;
                dates[i] = i / 100;
            }
        }
    }

    public static void main(String[] args) {
        boolean isSlow = Rounds.isSlow(args);
        Order[] orders = isSlow ? makeOrders() : null;
        Columns columns = isSlow ? null : new Columns();
        Rounds rounds = Rounds.begin(args);
        long checksum = 0;
        while (rounds.next()) {
            long sum = isSlow ? sumRecords(orders) : sumColumn(columns.prices);
            checksum = checksum * 31 + sum + rounds.number();
        }
        rounds.end(checksum);
    }

    private static long priceOf(long number) {
        return number * 0x9E3779B97F4A7C15L >>> 40;
    }

    private static Order[] makeOrders() {
        Order[] orders = new Order[COUNT];
        for (int i = 0; i < COUNT; i++) {
            orders[i] = new Order(i);
        }
        return orders;
    }

    static long sumRecords(Order[] orders) {
        long sum = 0;
        for (int i = 0; i < orders.length; i++) {
            Order order = orders[i]; // ALSO records
            sum += order.price; // FAULT records
        }
        return sum;
    }

    static long sumColumn(long[] prices) {
        long sum = 0;
        for (int i = 0; i < prices.length; i++) {
            sum += prices[i]; // MENDED records
        }
        return sum;
    }
}
