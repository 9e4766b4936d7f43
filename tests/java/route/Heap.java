package route;

/** A binary heap of labels, least arrival first; ties go to the lower station number. */
final class Heap {
    private final Label[] labels;
    private int size;

    Heap(int capacity) {
        labels = new Label[capacity];
    }

    boolean isEmpty() {
        return size == 0;
    }

    void clear() {
        size = 0;
    }

    private boolean less(Label a, Label b) {
        int difference = a.minutes() - b.minutes();
        return difference < 0 || difference == 0 && a.station().id() < b.station().id();
    }

    private void put(int place, Label label) {
        labels[place] = label;
        label.moveTo(place);
    }

    /** Adds a label, or moves it up if it is already in the heap with a better arrival. */
    void offer(Label label) {
        int place = label.place();
        if (place < 0) {
            place = size++;
        }
        while (place > 0) {
            int parent = (place - 1) / 2;
            if (!less(label, labels[parent])) {
                break;
            }
            put(place, labels[parent]);
            place = parent;
        }
        put(place, label);
    }

    Label poll() {
        Label least = labels[0];
        least.moveTo(-1);
        Label moved = labels[--size];
        if (size > 0) {
            sink(moved);
        }
        return least;
    }

    private void sink(Label moved) {
        int place = 0;
        int child = 1;
        while (child < size) {
            if (child + 1 < size && less(labels[child + 1], labels[child])) {
                child++;
            }
            if (!less(labels[child], moved)) {
                break;
            }
            put(place, labels[child]);
            place = child;
            child = 2 * place + 1;
        }
        put(place, moved);
    }
}
