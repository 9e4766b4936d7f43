import java.util.ArrayList;
import java.util.List;

/** The program that the aspect advises. */
public class Woven {
    int outer(int turns) {
        int sum = 0;
        for (int i = 0; i < turns; i++) {
            sum += inner(i);
        }
        return sum;
    }

    int inner(int i) {
        return i % 3;
    }

    void fails(int i) throws Exception {
        for (; ; i--) {
            if (i < 0) {
                throw new Exception("failure " + i);
            }
        }
    }

    static List<Integer> list(int n) {
        List<Integer> list = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            try {
                list.add(i);
            } finally {
                if (i % 2 == 0) {
                    continue;
                }
            }
        }
        return list;
    }

    public static void main(String[] args) throws Exception {
        Woven woven = new Woven();
        int sum = 0;
        for (int round = 0; round < 300; round++) {
            sum += woven.outer(30) + list(20).size();
            try {
                woven.fails(5);
            } catch (Exception e) {
                sum += e.getMessage().length() + e.getStackTrace().length;
            }
        }
        System.out.println("sum " + sum);
        System.out.println("advised " + Class.forName("Weaving").getDeclaredField("advised").get(null));
    }
}
