package route;

/** Dijkstra's algorithm over the network, with a penalty for each change of line. */
final class Finder {
    private static final int CHANGE_MINUTES = 4;
    private final Network network;
    private final Label[] labels;
    private final Heap open;
    private long settledCount;

    Finder(Network network) {
        this.network = network;
        this.labels = new Label[network.stationCount()];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = new Label(network.station(i));
        }
        this.open = new Heap(labels.length);
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
        Station here = current.station();
        for (Edge edge = here.firstEdge(); edge != null; edge = edge.next(here)) {
            if (isWayBack(current, edge)) {
                continue;
            }
            Label target = label(edge.other(here));
            if (!target.isSettled() && target.improve(arrival(current, edge), edge)) {
                open.offer(target);
            }
        }
    }

    private boolean isWayBack(Label current, Edge edge) {
        Edge via = current.via();
        return via != null && edge.isMe(via.from(), via.to());
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
