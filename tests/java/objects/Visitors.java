import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/**
 * Visitors that are all equal by `equals`. Each visitor that arrives leaves later in another
 * thread, and some visitors leave that never arrived. Commands on standard input:
 *
 * <ul>
 * <li>`N`: N visitors arrive and leave, twice.
 * <li>`stay N`: N visitors arrive and are kept.
 * <li>`meet N`: each of four threads meets the same N visitors.
 * <li>`gone`: forgets the visitors, and collects the objects that are unreachable.
 * </ul>
 */
public class Visitors {
    static final class Visitor {
        final int number;
        boolean met;

        Visitor(int number) {
            this.number = number;
        }

        @Override
        public int hashCode() {
            return 1;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Visitor;
        }
    }

    static List<Visitor> inside = new ArrayList<>();
    static long seen;

    static void arrive(Visitor visitor, int day) {
        seen += visitor.number + day;
    }

    static synchronized void leave(Visitor visitor, boolean known) {
        seen += visitor == null ? 1 : visitor.number;
    }

    static void stay(int count, int day) {
        for (int i = 0; i < count; i++) {
            Visitor visitor = new Visitor(i);
            arrive(visitor, day);
            inside.add(visitor);
        }
    }

    static void inAndOut(int count) throws InterruptedException {
        for (int day = 1; day <= 2; day++) {
            stay(count, day);
            List<Visitor> out = inside;
            inside = new ArrayList<>();
            Thread[] doors = new Thread[4];
            for (int d = 0; d < doors.length; d++) {
                int door = d;
                doors[d] = new Thread(() -> {
                    for (int i = door; i < out.size(); i += 4) {
                        leave(out.get(i), true);
                    }
                    leave(new Visitor(-1), false);
                    leave(null, false);
                });
                doors[d].start();
            }
            for (Thread door : doors) {
                door.join();
            }
        }
    }

    static void meet(Visitor visitor) {
        visitor.met = true;
    }

    static void meet(int count) throws InterruptedException {
        List<Visitor> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(new Visitor(i));
        }
        Thread[] guests = new Thread[4];
        for (int g = 0; g < guests.length; g++) {
            guests[g] = new Thread(() -> all.forEach(Visitors::meet));
            guests[g].start();
        }
        for (Thread guest : guests) {
            guest.join();
        }
        inside = all;
    }

    static void forget() {
        // The list itself may stay reachable for a while: the JVM clears an ended thread later, and
        // a thread of JDK 25 keeps its task.
        inside.clear();
        inside = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("stop");) {
            seen = 0;
            if (line.equals("gone")) {
                forget();
            } else if (line.startsWith("meet ")) {
                meet(Integer.parseInt(line.substring(5)));
            } else if (line.startsWith("stay ")) {
                stay(Integer.parseInt(line.substring(5)), 1);
            } else {
                inAndOut(Integer.parseInt(line));
            }
            System.out.println("seen " + seen);
        }
    }
}
