/** A minimal program. */
public final class Hello {
    private Hello() {}

    public static void main(String[] args) {
        System.out.println("result hello");
    }
}
