package route;

/** The search state of one station: the best arrival so far and the edge of that arrival. */
final class Label {
    private final Station station;
    private int minutes;
    private Edge via;
    private boolean settled;
    private int place;

    Label(Station station) {
        this.station = station;
        reset();
    }

    void reset() {
        minutes = Integer.MAX_VALUE;
        via = null;
        settled = false;
        place = -1;
    }

    Station station() {
        return station;
    }

    int minutes() {
        return minutes;
    }

    Edge via() {
        return via;
    }

    boolean isSettled() {
        return settled;
    }

    void settle() {
        settled = true;
    }

    /** The position of this label in the heap, or -1 if it is not in the heap. */
    int place() {
        return place;
    }

    void moveTo(int newPlace) {
        place = newPlace;
    }

    /** Stores the arrival if it is better than the known one. */
    boolean improve(int newMinutes, Edge newVia) {
        if (newMinutes >= minutes) {
            return false;
        }
        minutes = newMinutes;
        via = newVia;
        return true;
    }
}
