import java.io.File;
import org.python.util.PythonInterpreter;

/** A Python script in Jython, which compiles it to class files of version 50. */
public class JythonProgram {
    public static void main(String[] arguments) {
        System.setProperty("python.import.site", "false");
        System.setProperty("python.cachedir.skip", "true");
        try (PythonInterpreter python = new PythonInterpreter()) {
            python.execfile(new File(arguments[0], "script.py").getPath());
        }
    }
}
