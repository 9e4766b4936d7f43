package route;

import java.util.ArrayDeque;

/** A route: its edges in order of travel, its time, and a description in one line. */
final class Route {
    private final Station start;
    private final Station goal;
    private final int minutes;
    private final ArrayDeque<Edge> edges = new ArrayDeque<>();

    Route(Station start, Station goal, int minutes) {
        this.start = start;
        this.goal = goal;
        this.minutes = minutes;
    }

    void prepend(Edge edge) {
        edges.addFirst(edge);
    }

    int minutes() {
        return minutes;
    }

    int stops() {
        return edges.size();
    }

    int changes() {
        int changes = 0;
        Line riding = null;
        for (Edge edge : edges) {
            if (riding != null && !edge.line().sameAs(riding)) {
                changes++;
            }
            riding = edge.line();
        }
        return changes;
    }

    /** A number that depends on every edge and its position. */
    long checksum() {
        long sum = minutes;
        for (Edge edge : edges) {
            sum = sum * 31 + edge.from().id() * 7L + edge.to().id() * 3L + edge.line().number();
        }
        return sum;
    }

    @Override
    public String toString() {
        return start + " -> " + goal + ": " + minutes + " min, " + stops() + " stops, " + changes() + " changes";
    }
}
