package route;

/**
 * Dijkstra's algorithm over the network, with a penalty for each change of line. It is the class of the route finder
 * after a search named the loop of `expand`: the edges of a station and the stations behind them are in arrays.
 */
final class Finder {
    private static final int CHANGE_MINUTES = 4;
    private final Network network;
    private final Label[] labels;
    private final Edge[][] edges;
    private final Label[][] targets;
    private final Heap open;
    private long settledCount;

    Finder(Network network) {
        this.network = network;
        this.labels = new Label[network.stationCount()];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = new Label(network.station(i));
        }
        this.edges = new Edge[labels.length][];
        this.targets = new Label[labels.length][];
        for (int i = 0; i < labels.length; i++) {
            collectEdges(network.station(i));
        }
        this.open = new Heap(labels.length);
    }

    private void collectEdges(Station station) {
        int count = 0;
        for (Edge edge = station.firstEdge(); edge != null; edge = edge.next(station)) {
            count++;
        }
        Edge[] own = new Edge[count];
        Label[] behind = new Label[count];
        int place = 0;
        for (Edge edge = station.firstEdge(); edge != null; edge = edge.next(station)) {
            own[place] = edge;
            behind[place++] = label(edge.other(station));
        }
        edges[station.id()] = own;
        targets[station.id()] = behind;
    }

    /** The best route, or null when there is none. */
    Route find(Station start, Station goal) {
        for (Label label : labels) {
            label.reset();
        }
        open.clear();
        label(start).improve(0, null);
        open.offer(label(start));
        while (!open.isEmpty()) {
            Label current = findNextNode();
            if (current.station().sameAs(goal)) {
                return trace(start, goal);
            }
            expand(current);
        }
        return null;
    }

    private Label findNextNode() {
        Label next = open.poll();
        next.settle();
        settledCount++;
        return next;
    }

    private void expand(Label current) {
        int here = current.station().id();
        Edge[] own = edges[here];
        Label[] behind = targets[here];
        for (int i = 0; i < own.length; i++) {
            Label target = behind[i];
            // The way back leads to a station that is settled.
            if (!target.isSettled() && target.improve(arrival(current, own[i]), own[i])) {
                open.offer(target);
            }
        }
    }

    private int arrival(Label current, Edge edge) {
        int minutes = current.minutes() + edge.minutes();
        Edge via = current.via();
        if (via != null && !via.line().sameAs(edge.line())) {
            minutes += CHANGE_MINUTES;
        }
        return minutes;
    }

    private Route trace(Station start, Station goal) {
        Route route = new Route(start, goal, label(goal).minutes());
        Station here = goal;
        while (!here.sameAs(start)) {
            Edge via = label(here).via();
            route.prepend(via);
            here = via.other(here);
        }
        return route;
    }

    private Label label(Station station) {
        return labels[station.id()];
    }

    long settledCount() {
        return settledCount;
    }
}
