package route;

/** What the search knows of one station: the best arrival so far and the edge it came by. */
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

    /** Where this label stands in the heap, -1 when it is not there. */
    int place() {
        return place;
    }

    void moveTo(int newPlace) {
        place = newPlace;
    }

    /** Takes the arrival if it is better than the one known. */
    boolean improve(int newMinutes, Edge newVia) {
        if (newMinutes >= minutes) {
            return false;
        }
        minutes = newMinutes;
        via = newVia;
        return true;
    }
}
