package route;

/**
 * The route finder: `route.Main [queries] [rounds] [--time]`. Each round asks for the same routes, so the output
 * depends only on the arguments. `--time` prints milliseconds per round to standard error.
 */
public final class Main {
    private static final int SIDE = 64;
    private static final int LINES = 160;
    private static final long SEED = 2003;
    private static final int DEFAULT_QUERIES = 1000;
    private static final int DEFAULT_ROUNDS = 5;

    private Main() {}

    public static void main(String[] args) {
        int[] numbers = {DEFAULT_QUERIES, DEFAULT_ROUNDS};
        int given = 0;
        boolean time = false;
        for (String arg : args) {
            if (arg.equals("--time")) {
                time = true;
            } else if (given < numbers.length) {
                numbers[given++] = Integer.parseInt(arg);
            }
        }
        Network network = Network.generate(SIDE, LINES, SEED);
        System.out.println(network.stationCount() + " stations, " + network.lineCount() + " lines, "
            + network.edgeCount() + " edges");
        long total = 0;
        for (int round = 1; round <= numbers[1]; round++) {
            long begin = System.nanoTime();
            long sum = round(network, numbers[0], round == 1);
            total = total * 17 + sum;
            System.out.println("round " + round + " checksum " + Long.toHexString(sum));
            if (time) {
                System.err.println("round " + round + " " + (System.nanoTime() - begin) / 1e6 + " ms");
            }
        }
        System.out.println("total " + Long.toHexString(total));
    }

    /** Asks for all routes of one round; returns their checksum. */
    private static long round(Network network, int queries, boolean show) {
        Finder finder = new Finder(network);
        Lcg random = new Lcg(42);
        long sum = 0;
        for (int query = 0; query < queries; query++) {
            Station start = network.station(random.below(network.stationCount()));
            Station goal = network.station(random.below(network.stationCount()));
            Route route = finder.find(start, goal);
            if (route == null) {
                sum = sum * 13 + 1;
                continue;
            }
            sum = sum * 13 + route.checksum();
            if (show && query % 50 == 0) {
                System.out.println(route);
            }
        }
        return sum * 19 + finder.settledCount();
    }
}
