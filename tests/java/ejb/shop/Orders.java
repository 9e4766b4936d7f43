package shop;

import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.InvocationContext;
import java.util.concurrent.atomic.AtomicInteger;

/** Adds up orders. */
@Stateless
public class Orders {
    static final AtomicInteger CALLS = new AtomicInteger();

    @EJB private Prices prices;

    @AroundInvoke
    Object count(InvocationContext context) throws Exception {
        CALLS.incrementAndGet();
        return context.proceed();
    }

    public int total(int goods) {
        int total = 0;
        for (int i = 0; i < goods; i++) {
            total += prices.price("good" + i);
        }
        return total;
    }
}
