import bsh.Interpreter;
import java.io.File;

/**
 * Runs `script.bsh` in BeanShell, which compiles scripted classes to class files of version 45 or
 * 46. Argument: the folder of the script.
 */
public class BeanShellProgram {
    public static void main(String[] arguments) throws Exception {
        Interpreter shell = new Interpreter();
        shell.set("out", System.out);
        for (int round = 0; round < 3; round++) {
            shell.set("round", round);
            System.out.println(shell.source(new File(arguments[0], "script.bsh").getPath()));
        }
    }
}
