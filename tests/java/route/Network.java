package route;

import java.util.ArrayList;
import java.util.List;

/**
 * The rail network. Stations lie on a jittered grid; lines wander over it and interchange where they
 * meet. Every row has a line of its own, and a trunk joins the rows, so that everything is connected.
 */
final class Network {
    private static final int SPACING = 2500;
    private final int side;
    private final Station[] stations;
    private final List<Line> lines = new ArrayList<>();
    private int edgeCount;

    private Network(int side) {
        this.side = side;
        this.stations = new Station[side * side];
    }

    /** A network of side x side stations and the given number of wandering lines. */
    static Network generate(int side, int lineCount, long seed) {
        Network network = new Network(side);
        Lcg random = new Lcg(seed);
        network.placeStations(random);
        for (int row = 0; row < side; row++) {
            Line line = network.newLine(900 + random.below(600));
            for (int column = 1; column < side; column++) {
                network.connect(network.at(row, column - 1), network.at(row, column), line);
            }
        }
        Line trunk = network.newLine(2600);
        for (int row = 1; row < side; row++) {
            network.connect(network.at(row - 1, side / 2), network.at(row, side / 2), trunk);
        }
        for (int i = 0; i < lineCount; i++) {
            network.wander(network.newLine(1100 + random.below(1400)), random);
        }
        return network;
    }

    private void placeStations(Lcg random) {
        for (int row = 0; row < side; row++) {
            for (int column = 0; column < side; column++) {
                int id = row * side + column;
                int x = column * SPACING + random.below(SPACING / 2);
                int y = row * SPACING + random.below(SPACING / 2);
                stations[id] = new Station(id, nameOf(id), x, y);
            }
        }
    }

    private static String nameOf(int id) {
        String[] first = {"Ash", "Brad", "Chel", "Dun", "Elm", "Farn", "Green", "Hat"};
        String[] last = {"ford", "ham", "ton", "wick", "bury", "mere", "field", "gate"};
        return first[id % 8] + last[id / 8 % 8] + " " + id / 64;
    }

    private Line newLine(int metresPerMinute) {
        Line line = new Line(lines.size(), metresPerMinute);
        lines.add(line);
        return line;
    }

    private void wander(Line line, Lcg random) {
        int row = random.below(side);
        int column = random.below(side);
        int heading = random.below(4);
        for (int step = 0; step < side; step++) {
            if (random.below(3) == 0) {
                heading = random.below(4);
            }
            int nextRow = row;
            int nextColumn = column;
            switch (heading) {
                case 0 -> nextRow++;
                case 1 -> nextRow--;
                case 2 -> nextColumn++;
                default -> nextColumn--;
            }
            if (!inside(nextRow) || !inside(nextColumn)) {
                heading = (heading + 2) % 4;
                continue;
            }
            connect(at(row, column), at(nextRow, nextColumn), line);
            row = nextRow;
            column = nextColumn;
        }
    }

    private boolean inside(int coordinate) {
        return coordinate >= 0 && coordinate < side;
    }

    private void connect(Station a, Station b, Line line) {
        Edge known = edgeBetween(a, b, line);
        if (known == null) {
            long dx = a.x() - b.x();
            long dy = a.y() - b.y();
            new Edge(a, b, line, (int) Math.sqrt((double) (dx * dx + dy * dy)));
            edgeCount++;
        }
    }

    /** The edge of a line (of any line if it is null) between two neighbours, or null. */
    Edge edgeBetween(Station a, Station b, Line line) {
        for (Edge edge = a.firstEdge(); edge != null; edge = edge.next(a)) {
            if (edge.isMe(a, b) && (line == null || edge.line().sameAs(line))) {
                return edge;
            }
        }
        return null;
    }

    Station at(int row, int column) {
        return stations[row * side + column];
    }

    Station station(int id) {
        return stations[id];
    }

    int stationCount() {
        return stations.length;
    }

    int lineCount() {
        return lines.size();
    }

    int edgeCount() {
        return edgeCount;
    }
}
