package other;

/** Never loaded. */
public class Unseen {
    public void use() {}
}
