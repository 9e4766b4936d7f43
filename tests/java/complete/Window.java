import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * Runs the main methods of classes between two methods that the agent of the test knows. The arguments
 * are the names of the classes, each with its arguments behind commas.
 */
class Window {
    static void open() {}

    static void close() {}

    public static void main(String[] programs) throws Exception {
        Method[] mains = new Method[programs.length];
        String[][] arguments = new String[programs.length][];
        for (int i = 0; i < programs.length; i++) {
            String[] words = programs[i].split(",");
            mains[i] = Class.forName(words[0]).getDeclaredMethod("main", String[].class);
            mains[i].setAccessible(true);
            arguments[i] = Arrays.copyOfRange(words, 1, words.length);
        }
        open();
        for (int i = 0; i < programs.length; i++) {
            mains[i].invoke(null, (Object) arguments[i]);
        }
        // Threads of the programs may still be on their way to where they wait.
        Thread.sleep(500);
        close();
    }
}
