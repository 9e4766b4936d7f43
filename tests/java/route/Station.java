package route;

/** A station of the network: a number, a name and a position on the map (metres). */
final class Station {
    private final int id;
    private final String name;
    private final int x;
    private final int y;
    private Edge firstEdge;

    Station(int id, String name, int x, int y) {
        this.id = id;
        this.name = name;
        this.x = x;
        this.y = y;
    }

    int id() {
        return id;
    }

    String name() {
        return name;
    }

    int x() {
        return x;
    }

    int y() {
        return y;
    }

    /** The head of the chain of edges at this station. */
    Edge firstEdge() {
        return firstEdge;
    }

    void setFirstEdge(Edge edge) {
        firstEdge = edge;
    }

    boolean sameAs(Station other) {
        return other != null && id == other.id();
    }

    @Override
    public String toString() {
        return name;
    }
}
