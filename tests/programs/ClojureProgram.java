import clojure.java.api.Clojure;
import clojure.lang.IFn;
import java.nio.file.Path;

/** Loads `script.clj`, which prints its results. Argument: the folder of the script. */
public class ClojureProgram {
    public static void main(String[] args) throws Exception {
        IFn load = Clojure.var("clojure.core", "load-file");
        System.out.println("value " + load.invoke(Path.of(args[0], "script.clj").toString()));
        System.out.flush();
        Clojure.var("clojure.core", "shutdown-agents").invoke();
    }
}
