import groovy.lang.Binding;
import groovy.lang.GroovyShell;
import java.nio.file.Path;

/** Compiles and runs `script.groovy`. Argument: the folder of the script. */
public class GroovyProgram {
    public static void main(String[] args) throws Exception {
        for (int round = 0; round < 2; round++) {
            Binding binding = new Binding();
            binding.setVariable("round", round);
            Object result = new GroovyShell(binding).evaluate(Path.of(args[0], "script.groovy").toFile());
            System.out.println("result " + result);
        }
    }
}
