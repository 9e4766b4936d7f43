package shop;

import jakarta.annotation.PostConstruct;
import jakarta.ejb.Lock;
import jakarta.ejb.LockType;
import jakarta.ejb.Singleton;
import java.util.Map;
import java.util.TreeMap;

/** The prices of goods, shared by all requests. */
@Singleton
public class Prices {
    private final Map<String, Integer> prices = new TreeMap<>();

    @PostConstruct
    void fill() {
        for (int i = 0; i < 50; i++) {
            prices.put("good" + i, 100 + 7 * i);
        }
    }

    @Lock(LockType.READ)
    public int price(String good) {
        Integer price = prices.get(good);
        if (price == null) {
            throw new IllegalArgumentException("no such good: " + good);
        }
        return price;
    }
}
