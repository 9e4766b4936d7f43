package other;

/** A class that is never loaded. */
public class Unseen {
    public void use() {}
}
