package shop;

/**
 * A small order service with three planted faults, for the tutorial in docs/tutorial.md.
 *
 * <p>Three worker threads serve orders. A fourth thread runs an audit: one method call that never returns. The program ends by
 * itself after the number of seconds that its argument names (default 600).
 */
public final class Shop {
    static volatile boolean open = true;

    private Shop() {}

    /** The main loop of one worker thread. */
    static void work(Desk desk, int first) {
        long sum = 0;
        for (int number = first; open; number += 3) {
            sum += desk.serve(new Order(number));
        }
        System.out.println("sum " + sum);
    }

    /** Fault 3: this method is called once and never returns. A tool that counts calls sees nothing of its loop. */
    static long audit() {
        long paid = 0;
        long free = 0;
        for (long number = 0; open; number++) {
            if (number % 4 == 3) {
                free++;
            } else {
                paid++;
            }
        }
        return paid - free;
    }

    public static void main(String[] args) throws InterruptedException {
        System.out.println("pid " + ProcessHandle.current().pid());
        Desk desk = new Desk(new Prices());
        for (int worker = 0; worker < 3; worker++) {
            int first = worker;
            new Thread(() -> work(desk, first), "worker-" + worker).start();
        }
        new Thread(Shop::audit, "audit").start();
        Thread.sleep(1000 * (args.length > 0 ? Long.parseLong(args[0]) : 600));
        open = false;
    }
}

/** Serves orders. */
final class Desk {
    private final Prices prices;

    Desk(Prices prices) {
        this.prices = prices;
    }

    long serve(Order order) {
        long total = 0;
        for (int item : order.items) {
            total += item % 90 + 10;
        }
        int discount = prices.discount(order);
        if (hasTwice(order.items)) {
            discount = 0;
        }
        return total * (100 - discount) / 100;
    }

    /** Fault 2: the time of this method grows with the square of the number of items. */
    static boolean hasTwice(int[] items) {
        for (int i = 0; i < items.length; i++) {
            for (int j = 0; j < i; j++) {
                if (items[i] == items[j]) {
                    return true;
                }
            }
        }
        return false;
    }
}

/** Knows the discounts. */
final class Prices {
    private int asked;

    /** Fault 1: the owner of this lock sleeps, and all other workers wait. */
    int discount(Order order) {
        synchronized (this) {
            asked++;
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return order.customer == null ? 0 : 5;
        }
    }
}

/** One order. The orders of eve have 2,000 items, all others have 6. */
final class Order {
    private static final String[] CUSTOMERS = {"ann", "bob", "eve", null};
    final int number;
    final String customer;
    final int[] items;

    Order(int number) {
        this.number = number;
        this.customer = CUSTOMERS[number % CUSTOMERS.length];
        this.items = new int["eve".equals(customer) ? 2000 : 6];
        for (int i = 0; i < items.length; i++) {
            items[i] = number * 31 + i;
        }
    }
}
