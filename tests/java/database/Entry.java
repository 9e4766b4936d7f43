package database;

import java.util.Vector;

/** A record of the database. Its fields are texts. */
final class Entry {
    // The cast at each use and the class Vector are those of the program that the paper shows.
    final Vector<Object> items = new Vector<>();

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Entry)) {
            return false;
        }
        Entry entry = (Entry) other;
        if (entry.items.size() != items.size()) {
            return false;
        }
        for (int i = 0; i < items.size(); i++) {
            String mine = (String) items.elementAt(i);
            String theirs = (String) entry.items.elementAt(i);
            if (!mine.equals(theirs)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        int hash = 0;
        for (int i = 0; i < items.size(); i++) {
            String item = (String) items.elementAt(i);
            hash = hash * 31 + item.hashCode();
        }
        return hash;
    }
}
