package route;

/** A piece of track of one line between two stations. It belongs to the edge chains of both. */
final class Edge {
    private final Station from;
    private final Station to;
    private final Line line;
    private final int minutes;
    private Edge nextOfFrom;
    private Edge nextOfTo;

    Edge(Station from, Station to, Line line, int metres) {
        this.from = from;
        this.to = to;
        this.line = line;
        this.minutes = line.minutes(metres);
        this.nextOfFrom = from.firstEdge();
        this.nextOfTo = to.firstEdge();
        from.setFirstEdge(this);
        to.setFirstEdge(this);
    }

    Station from() {
        return from;
    }

    Station to() {
        return to;
    }

    Line line() {
        return line;
    }

    int minutes() {
        return minutes;
    }

    /** Returns whether this edge joins the two stations, in either direction. */
    boolean isMe(Station a, Station b) {
        return from.sameAs(a) && to.sameAs(b) || from.sameAs(b) && to.sameAs(a);
    }

    boolean touches(Station station) {
        return from.sameAs(station) || to.sameAs(station);
    }

    /** The station at the other end. */
    Station other(Station station) {
        return from.sameAs(station) ? to : from;
    }

    /** The next edge in the chain of the given station. */
    Edge next(Station station) {
        return from.sameAs(station) ? nextOfFrom : nextOfTo;
    }

    @Override
    public String toString() {
        return from + "-" + to + " (" + line + ", " + minutes + " min)";
    }
}
