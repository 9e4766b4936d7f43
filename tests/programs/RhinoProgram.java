import java.nio.file.Files;
import java.nio.file.Path;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.ImporterTopLevel;
import org.mozilla.javascript.JavaScriptException;
import org.mozilla.javascript.Scriptable;

/**
 * Runs `script.js` in Rhino, interpreted and compiled at all levels. Argument: the folder of the
 * script.
 */
public class RhinoProgram {
    public static void main(String[] args) throws Exception {
        String text = Files.readString(Path.of(args[0], "script.js"));
        for (int level = -1; level <= 9; level++) {
            Context context = Context.enter();
            try {
                context.setOptimizationLevel(level);
                context.setLanguageVersion(Context.VERSION_ES6);
                Scriptable scope = new ImporterTopLevel(context);
                scope.put("out", scope, Context.javaToJS(System.out, scope));
                System.out.println("level " + level + " " + Context.toString(context.evaluateString(scope, text, "script.js", 1, null)));
                try {
                    context.evaluateString(scope, "throw new RangeError('too far')", "throws.js", 7, null);
                } catch (JavaScriptException e) {
                    System.out.println(e.details() + " " + e.lineNumber());
                }
            } finally {
                Context.exit();
            }
        }
    }
}
