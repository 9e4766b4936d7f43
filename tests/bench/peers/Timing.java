import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Pointcut;

/**
 * An inclusive timer in AspectJ, as around advice. The methods are named in {@code aop.xml}. For
 * one thread only.
 */
@Aspect
public abstract class Timing {
    private static long calls;
    private static long total;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("hits: " + calls)));
    }

    @Pointcut
    public abstract void timed();

    @Around("timed()")
    public Object time(ProceedingJoinPoint point) throws Throwable {
        long begun = System.nanoTime();
        try {
            return point.proceed();
        } finally {
            total += System.nanoTime() - begun;
            calls++;
        }
    }
}
