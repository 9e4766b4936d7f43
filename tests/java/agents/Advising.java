import java.lang.instrument.Instrumentation;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.matcher.ElementMatchers;

/**
 * An agent made with Byte Buddy. It counts the calls of `Advised.step`, and prints their number at
 * the end.
 */
public class Advising {
    public static int calls;

    public static class Counting {
        @Advice.OnMethodEnter
        public static void enter() {
            Advising.calls++;
        }
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
        new AgentBuilder.Default()
                .disableClassFormatChanges()
                .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
                .type(ElementMatchers.named("Advised"))
                .transform((builder, type, loader, module, domain) ->
                        builder.visit(Advice.to(Counting.class).on(ElementMatchers.named("step"))))
                .installOn(instrumentation);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("advice " + calls)));
    }
}
