package named;

/** A loop whose classes are all resolved by its first call. */
public class Held {
    public static int turns(int turns) throws InterruptedException {
        int sum = 0;
        for (int i = 0; i < turns; i++) {
            sum += i;
            Thread.sleep(10);
        }
        return sum;
    }
}
