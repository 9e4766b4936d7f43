//! The Java programs of the part `memory`: classes with many small methods of four forms, and
//! threads that run them.

use std::fmt::Write;

/// The templates of the methods; `@M@` and `@N@` are replaced by numbers.
const FORMS: [&str; 4] = [
    "    static long m@M@(long x) {
        for (int i = 0; i < 20; i++) {
            x = (x & 1) == 0 ? x * 31 + i : x - (i & @N@);
        }
        return x;
    }
",
    "    static long m@M@(long x) {
        try {
            if (x % 13 == 5) {
                throw new IllegalStateException();
            }
            x += 3;
        } catch (IllegalStateException e) {
            x ^= @N@;
        }
        return x;
    }
",
    "    static long m@M@(long x) {
        String s = switch ((int) (x & 3)) {
            case 0 -> \"a\" + x;
            case 1 -> \"b\";
            default -> \"c\";
        };
        return x + s.length() + @N@;
    }
",
    "    static long m@M@(long x) {
        java.util.function.LongUnaryOperator f = y -> y + x;
        double d = x * 0.5;
        while (d > 1e6) {
            d /= 2;
        }
        return f.applyAsLong(@N@) + (long) d;
    }
",
];

/// Generates the classes `Many0`, `Many1`, … Each has twenty methods, and a method `all` that calls
/// them.
pub fn many(classes: usize) -> String {
    let mut out = String::new();
    for c in 0..classes {
        let _ = writeln!(out, "class Many{c} {{");
        let mut calls = String::new();
        for m in 0..20 {
            let n = (m * 7 + c + 1).to_string();
            let form = FORMS[m % FORMS.len()].replace("@M@", &m.to_string());
            out.push_str(&form.replace("@N@", &n));
            let _ = writeln!(calls, "        x = m{m}(x);");
        }
        let _ = writeln!(
            out,
            "    public static long all(long x) {{\n{calls}        return x;\n    }}\n}}\n"
        );
    }
    out
}

/// Generates the program: two threads that run 200 methods, and two threads with endless loops.
pub fn program() -> String {
    let calls: String = (0..10)
        .map(|c| format!("            x = Many{c}.all(x);\n"))
        .collect();
    format!(
        "{}public class Memory {{
    static volatile boolean stopped;
    static volatile long kept;

    static void work() throws InterruptedException {{
        long x = 1;
        while (!stopped) {{
{calls}            Thread.sleep(1);
        }}
        kept = x;
    }}

    static void spin() throws InterruptedException {{
        long x = 1;
        while (!stopped) {{
            x = x * 31 + 7;
            Thread.sleep(1);
        }}
        kept = x;
    }}

    static void run(boolean works) {{
        try {{
            if (works) {{
                work();
            }} else {{
                spin();
            }}
        }} catch (InterruptedException e) {{
            throw new IllegalStateException(e);
        }}
    }}

    public static void main(String[] args) throws Exception {{
        System.out.println(\"pid \" + ProcessHandle.current().pid());
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {{
            boolean works = i < 2;
            threads[i] = new Thread(() -> run(works));
            threads[i].start();
        }}
        // Until `stop`.
        System.in.read();
        stopped = true;
        for (Thread t : threads) {{
            t.join();
        }}
    }}
}}
",
        many(10)
    )
}
