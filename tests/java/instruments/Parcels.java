import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Values of the JDK's own types: {@code pack} runs for four parcels, of which the last is null. */
public class Parcels {
    enum State {
        NEW,
        /** A constant with a class of its own. */
        PAID {
            @Override
            String label() {
                return "paid";
            }
        };

        String label() {
            return "new";
        }
    }

    static class Parcel {
        private int id;
        State state;
        Integer pieces;
        Boolean fragile;
        BigDecimal price;
        UUID key;
        LocalDate day;
        Instant sent;
        Object time;
        List<String> items;
        Map<String, Integer> stock;
        Object note;

        public String label() {
            return "parcel " + id;
        }

        /** Veneer must not call methods of the application. */
        @Override
        public String toString() {
            throw new IllegalStateException("called");
        }

        @Override
        public int hashCode() {
            throw new IllegalStateException("called");
        }
    }

    /** A collection of the application. */
    static class Own extends AbstractList<String> {
        @Override
        public String get(int index) {
            throw new IllegalStateException("called");
        }

        @Override
        public int size() {
            throw new IllegalStateException("called");
        }
    }

    static int pack(Parcel parcel, int round) {
        return parcel == null ? 1 : parcel.id + round;
    }

    /** Returns, or ends by an exception of its own or of the JVM. */
    static int check(Parcel parcel, int round) {
        if (round == 1) {
            throw new IllegalStateException("round " + round);
        }
        return parcel.id;
    }

    static Parcel[] parcels() {
        Parcel one = new Parcel();
        one.id = 7;
        one.state = State.PAID;
        one.pieces = 3;
        one.fragile = true;
        one.price = new BigDecimal("12.50");
        one.key = new UUID(1, 2);
        one.day = LocalDate.of(2026, 11, 5);
        one.sent = Instant.ofEpochSecond(1_000_000_000, 5_000_000);
        one.time = LocalDateTime.of(2024, 2, 29, 23, 59, 1);
        one.items = new ArrayList<>(List.of("a", "b"));
        one.stock = new HashMap<>(Map.of("a", 1));
        one.note = List.of("a", "b", "c");
        Parcel two = new Parcel();
        two.id = 8;
        two.state = State.NEW;
        two.price = new BigDecimal(new BigInteger("-123456789012345678901234567890"), 3);
        two.time = Duration.ofMillis(-1_500);
        two.items = Collections.unmodifiableList(new LinkedList<>(List.of("a", "b", "c", "d")));
        two.stock = Collections.synchronizedMap(new TreeMap<>(Map.of("a", 1, "b", 2)));
        two.note = new Own();
        Parcel three = new Parcel();
        three.id = 9;
        three.pieces = 2;
        three.time = new java.util.Date(1_500L);
        three.items = new ArrayList<>(List.of("x")) {};
        three.stock = new LinkedHashMap<>();
        three.note = Arrays.asList(1, 2);
        return new Parcel[] {one, two, three, null};
    }

    /** One run for each line {@code run}. */
    public static void main(String[] args) throws IOException {
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            int sum = 0;
            Parcel[] all = parcels();
            for (int round = 0; round < all.length; round++) {
                sum += pack(all[round], round);
                try {
                    sum += check(all[round], round);
                } catch (RuntimeException e) {
                    sum += 100;
                }
            }
            System.out.println("sum " + sum);
        }
    }
}
