import java.nio.file.Path;
import org.jruby.RubyInstanceConfig.CompileMode;
import org.jruby.embed.LocalContextScope;
import org.jruby.embed.PathType;
import org.jruby.embed.ScriptingContainer;

/**
 * Runs `script.rb` in JRuby: interpreted, with its JIT, and compiled beforehand. Argument: the
 * folder of the script.
 */
public class JRubyProgram {
    public static void main(String[] arguments) {
        String script = Path.of(arguments[0], "script.rb").toString();
        for (CompileMode mode : new CompileMode[] {CompileMode.OFF, CompileMode.JIT, CompileMode.FORCE}) {
            ScriptingContainer ruby = new ScriptingContainer(LocalContextScope.SINGLETHREAD);
            ruby.getProvider().getRubyInstanceConfig().setJitThreshold(2);
            ruby.setCompileMode(mode);
            System.out.println(mode + " " + ruby.runScriptlet(PathType.ABSOLUTE, script));
            ruby.terminate();
        }
    }
}
