import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.AfterThrowing;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;

/** The aspect. It counts its executions. */
@Aspect
public class Weaving {
    static int advised;

    @Around("execution(* Woven.*(..))")
    public Object around(ProceedingJoinPoint point) throws Throwable {
        advised++;
        try {
            return point.proceed();
        } finally {
            advised++;
        }
    }

    @Before("call(* java.util.List.add(..)) && within(Woven)")
    public void added() {
        advised += 100;
    }

    @AfterThrowing(pointcut = "execution(* Woven.fails(..))", throwing = "e")
    public void thrown(Exception e) {
        advised += 1000;
    }
}
