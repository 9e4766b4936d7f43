import java.io.ByteArrayOutputStream;
import javax.tools.ToolProvider;

/** Compiles sources with the compiler of this JDK. The arguments are those of `javac`. */
class Compile {
    public static void main(String[] arguments) {
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int result = ToolProvider.getSystemJavaCompiler().run(null, messages, messages, arguments);
        if (result != 0) {
            throw new AssertionError(messages.toString());
        }
    }
}
