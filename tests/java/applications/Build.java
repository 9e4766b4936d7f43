import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import javax.annotation.processing.AbstractProcessor;
import javax.annotation.processing.RoundEnvironment;
import javax.annotation.processing.SupportedAnnotationTypes;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.Element;
import javax.lang.model.element.TypeElement;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * The JDK's compiler on generated sources, again and again. The fault: an annotation processor looks at
 * the documentation of each method with a pattern that tries out many ways. A comment `FAULT build`
 * marks the line, and `OTHER` the work of the compiler.
 */
public class Build {
    private static final int CLASSES = 30;
    private static final int METHODS = 10;

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("build");
        compile(folder);
        End.ready();
        while (true) {
            compile(folder);
        }
    }

    private static void compile(Path folder) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            manager.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(folder));
            List<JavaFileObject> sources = new ArrayList<>();
            for (int n = 0; n < CLASSES; n++) {
                sources.add(new Source("Part" + n));
            }
            JavaCompiler.CompilationTask task = compiler.getTask(null, manager, null, null, null, sources);
            task.setProcessors(List.of(new Documented()));
            boolean isGood = task.call(); // OTHER
            if (!isGood) {
                throw new IllegalStateException("the sources do not compile");
            }
        }
    }

    @SupportedAnnotationTypes("*")
    static class Documented extends AbstractProcessor {
        private static final Pattern ORDERED = Pattern.compile("(.*,){6}ordered");
        private int ordered;

        @Override
        public SourceVersion getSupportedSourceVersion() {
            return SourceVersion.latest();
        }

        @Override
        public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
            for (Element type : round.getRootElements()) {
                for (Element member : type.getEnclosedElements()) {
                    String text = processingEnv.getElementUtils().getDocComment(member);
                    ordered += text != null && isOrdered(text) ? 1 : 0;
                }
            }
            return false;
        }

        private static boolean isOrdered(String text) {
            return ORDERED.matcher(text).matches(); // FAULT build
        }
    }

    private static class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            StringBuilder out = new StringBuilder("class " + name + " {\n");
            for (int n = 0; n < METHODS; n++) {
                out.append("  /** a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x */\n");
                out.append("  int m" + n + "(int a, java.util.List<String> b) {\n    int sum = a;\n");
                out.append("    for (String one : b) { sum += one.length() * " + n + "; }\n    return sum;\n  }\n");
            }
            text = out.append("}\n").toString();
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
