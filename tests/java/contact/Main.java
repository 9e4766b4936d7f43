package com.shop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/** A shop of the shape of the one whose first user wrote {@code docs/first-contact.md}. */
public final class Main {
    static volatile boolean open = true;

    private Main() {}

    static void serve(int first) {
        Orders orders = new Orders();
        Pricing pricing = new Pricing();
        for (int number = first; open; number += 2) {
            Order order = new Order(number);
            order.total = pricing.price(order);
            orders.forCustomer(order.customer);
            try {
                orders.check(order.customer);
            } catch (IllegalStateException e) {
                order.total = 0;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        for (int thread = 0; thread < 2; thread++) {
            int first = thread;
            new Thread(() -> serve(first), "http-" + thread).start();
        }
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (!"stop".equals(input.readLine())) {
            Thread.yield();
        }
        open = false;
    }
}

enum Status { NEW, PAID }

final class Item {
    final int sku;

    Item(int sku) {
        this.sku = sku;
    }
}

final class Order {
    final int id;
    final String customer;
    final Long number;
    final Status status;
    final List<Item> items = new ArrayList<>();
    double total;

    Order(int id) {
        this.id = id;
        this.customer = "c" + id % 10;
        this.number = (long) id;
        this.status = id % 2 == 0 ? Status.PAID : Status.NEW;
        for (int i = 0; i < (id % 4 == 0 ? 40 : 4); i++) {
            items.add(new Item(id + i));
        }
    }

    public String getCustomer() {
        return customer;
    }
}

final class Pricing {
    double price(Order order) {
        return factor(order) * (100 - discount(order.customer)) - parse("none");
    }

    double factor(Order o) {
        double factor = 1;
        for (Item item : o.items) {
            factor += item.sku % 7 * 0.001;
        }
        if (factor > 100) {
            return 100;
        }
        return factor;
    }

    synchronized int discount(String customer) {
        return customer.endsWith("7") ? 5 : 0;
    }

    int parse(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}

final class Orders {
    private int asked;

    /** Takes longest for the customer c7. */
    int forCustomer(String c) {
        asked++;
        try {
            Thread.sleep("c7".equals(c) ? 12 : 1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return asked;
    }

    void check(String customer) {
        if ("c3".equals(customer)) {
            throw new IllegalStateException("blocked");
        }
    }
}
