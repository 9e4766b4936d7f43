package route;

/** A railway line: its number and the speed of its trains. */
final class Line {
    private final int number;
    private final int metresPerMinute;

    Line(int number, int metresPerMinute) {
        this.number = number;
        this.metresPerMinute = metresPerMinute;
    }

    int number() {
        return number;
    }

    /** Travel time over a distance in metres, in minutes, at least one. */
    int minutes(int metres) {
        int time = metres / metresPerMinute;
        return time < 1 ? 1 : time;
    }

    boolean sameAs(Line other) {
        return other != null && number == other.number();
    }

    @Override
    public String toString() {
        return "line " + number;
    }
}
