import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockStatic;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.List;
import org.mockito.MockedStatic;

/**
 * Mocks final classes, static methods and classes of the JDK with the inline mock maker, and calls
 * the real ones in between.
 */
public class Mocked {
    static final class Account {
        private int balance;

        int add(int amount) {
            for (int i = 0; i < amount; i++) {
                balance++;
            }
            return balance;
        }

        final int twice(int amount) {
            return add(amount) + add(amount);
        }
    }

    static final class Rates {
        static int rate(int year) {
            int rate = 0;
            for (int i = 0; i < year % 10; i++) {
                rate += i;
            }
            return rate;
        }
    }

    public static void main(String[] args) {
        long sum = 0;
        for (int round = 0; round < 20; round++) {
            Account mocked = mock(Account.class);
            when(mocked.add(anyInt())).thenReturn(42);
            when(mocked.twice(3)).thenReturn(7);
            sum += mocked.add(1) + mocked.twice(3) + mocked.twice(4);
            verify(mocked, times(1)).add(1);
            Account real = new Account();
            sum += real.twice(round);
            Account spied = spy(new Account());
            sum += spied.twice(5);
            verify(spied, times(2)).add(5);
            sum += Rates.rate(2007);
            try (MockedStatic<Rates> rates = mockStatic(Rates.class)) {
                rates.when(() -> Rates.rate(anyInt())).thenReturn(1000);
                sum += Rates.rate(2007);
            }
            List<Integer> list = spy(new ArrayList<>());
            list.add(round);
            when(list.size()).thenReturn(100);
            sum += list.size() + list.get(0);
        }
        System.out.println("sum " + sum);
    }
}
