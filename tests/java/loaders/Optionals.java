/**
 * Calls all methods of Optional. It is a separate class, because the launcher looks at all methods
 * of the main class.
 */
public class Optionals {
    static String attempt(String name, java.util.function.IntSupplier action) {
        try {
            return name + " " + action.getAsInt();
        } catch (Throwable e) {
            return name + " " + e;
        }
    }

    public static void main(String[] args) {
        for (int turn = 0; turn < 3; turn++) {
            System.out.println(attempt("plain", () -> Optional.plain(4)));
            System.out.println(attempt("takes", () -> Optional.takes(null, 4)));
            System.out.println(attempt("gives", () -> Optional.gives(false) == null ? 1 : 0));
            System.out.println(attempt("gives", () -> Optional.gives(true) == null ? 1 : 0));
            System.out.println(attempt("maybe", () -> Optional.maybe(false, 4)));
            System.out.println(attempt("maybe", () -> Optional.maybe(true, 4)));
            System.out.println(attempt("live", () -> Optional.live(false, 4)));
            System.out.println(attempt("caught", () -> Optional.caught(4)));
            System.out.println(attempt("rare", () -> OptionalHandler.rare(5)));
            System.out.println(attempt("rare", () -> OptionalHandler.rare(0)));
            System.out.println(attempt("statics", () -> Optional.statics(false)));
        }
    }
}
