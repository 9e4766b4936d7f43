//! Memory: instruments that are attached and detached again and again leave nothing behind, neither in the JVM nor in the agent;
//! nor do classes that are armed, patched and unloaded with their loaders.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::part::{Part, Scope, Table, TrustError};
use crate::command;
use crate::folder::{Folder, files};
use crate::jdk::Jdk;
use crate::live::Live;
use crate::process::Process;
use crate::running::Programs;

/// Cycles after which figures are taken. What follows the [`WARM`] one is measured against it.
const SAMPLES: [u32; 5] = [100, 250, 500, 750, 1000];

/// Loaders after which figures are taken.
const LOADERS: [u32; 4] = [100, 200, 400, 600];

/// The sample at which all is made that is made once: the second.
const WARM: usize = 1;

/// How much each figure may rise from the warm sample to the last, in KiB. Metaspace and the JVM's own native memory are exact;
/// the code cache breathes with what the compilers do, and the resident set with what `malloc` keeps.
const BOUNDS: [(&str, i64); 5] = [
    ("classes", 120),
    ("metaspace", 2048),
    ("code cache", 6144),
    ("JVM native", 3072),
    ("agent and malloc", 16_384),
];

/// The part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let begun = Instant::now();
    let mut part = Part::new("memory", "Memory");
    part.words = vec![
        "A program runs 200 methods all the time in two threads, and two loops that never end. A plan attaches counters to \
         every block of all of them and detaches them, over and over. So in each cycle 202 methods get a version, threads \
         enter it, running activations move into it and out of it again, and it is dropped. Figures are taken after garbage \
         collections; those after 250 cycles count as the beginning, when everything that is made once has been made. In KiB: Metaspace in use; code \
         cache in use; what the JVM's native memory tracking shows as committed, without heap, Metaspace, code, threads and the \
         compilers' arenas; and the part of the resident set that tracking does not know, which is the agent's own memory, \
         libraries, and what `malloc` keeps."
            .into(),
        format!(
            "Bounds on the rise from the second row to the last: {}. They are what single figures breathe with: the JVM frees \
             Metaspace in whole chunks, of which a loader that is gone may leave some half used, the code cache holds what the \
             compilers have made lately, and `malloc` keeps what it was given back. In 750 cycles \
             methods get a version more than 150,000 times: 24 bytes that stayed of each would pass the widest of them but the last.",
            BOUNDS
                .iter()
                .map(|(what, most)| if *what == "classes" {
                    format!("{most} {what}")
                } else {
                    format!("{what} {most} KiB")
                })
                .collect::<Vec<_>>()
                .join(", ")
        ),
        "Loaders: each cycle makes a class loader, loads five classes through it, which are armed and have a version before they \
         run, uses them, and drops it. The JVM gets all of it back, and so does the agent: its records of classes that are \
         unloaded, their class files, and their counters. What is kept is one row of figures for all classes of one name. The \
         bounds are the same."
            .into(),
    ];
    for jdk in &scope.jdks {
        let samples: &[u32] = if scope.quick {
            &[30, 50, 150]
        } else {
            &SAMPLES
        };
        match cycles(jdk, samples) {
            Ok(figures) => {
                part.tables.push(table(
                    &format!("Attach and detach on 202 methods, JDK {}", jdk.major()),
                    "cycles",
                    &figures,
                ));
                let late = exceeded(&figures);
                part.failures
                    .extend(late.into_iter().map(|f| format!("{jdk}: {f}")));
            }
            Err(e) => part.failures.push(format!("{jdk}, cycles: {e}")),
        }
        let samples: &[u32] = if scope.quick {
            &[30, 50, 150]
        } else {
            &LOADERS
        };
        match loaders(jdk, samples) {
            Ok(figures) => {
                part.tables.push(table(
                    &format!("Loaders that come and go, JDK {}", jdk.major()),
                    "loaders",
                    &figures,
                ));
                let late = exceeded(&figures);
                part.failures
                    .extend(late.into_iter().map(|f| format!("{jdk}, loaders: {f}")));
            }
            Err(e) => part.failures.push(format!("{jdk}, loaders: {e}")),
        }
    }
    Ok(part.since(begun))
}

/// Figures after so many cycles, in the order of [`BOUNDS`].
pub struct Figures {
    cycle: u32,
    values: [i64; 5],
    /// Classes loaded so far.
    loaded: i64,
    resident: i64,
}

/// Which bounds the last figures break.
pub fn exceeded(figures: &[Figures]) -> Vec<String> {
    let (Some(first), Some(last)) = (figures.get(WARM), figures.last()) else {
        return vec!["no figures".into()];
    };
    let mut found = Vec::new();
    for (i, (what, most)) in BOUNDS.iter().enumerate() {
        let rise = last.values[i] - first.values[i];
        if rise > *most {
            found.push(format!(
                "{what} rose by {rise} from cycle {} to {}",
                first.cycle, last.cycle
            ));
        }
    }
    found
}

fn table(title: &str, unit: &str, figures: &[Figures]) -> Table {
    let mut heads = vec![unit, "loaded so far"];
    heads.extend(BOUNDS.iter().map(|b| b.0));
    heads.push("resident set");
    let mut table = Table::new(title, &heads);
    for f in figures {
        let mut row = vec![f.cycle.to_string(), f.loaded.to_string()];
        row.extend(f.values.iter().map(ToString::to_string));
        row.push(f.resident.to_string());
        table.rows.push(row);
    }
    if let (Some(a), Some(b)) = (figures.get(WARM), figures.last()) {
        let per = f64::from(b.cycle - a.cycle) / 100.0;
        let slope = |x: i64, y: i64| format!("{:+.1}", (y - x) as f64 / per);
        let mut row = vec!["rise per 100".to_string(), slope(a.loaded, b.loaded)];
        row.extend((0..BOUNDS.len()).map(|i| slope(a.values[i], b.values[i])));
        row.push(slope(a.resident, b.resident));
        table.rows.push(row);
    }
    table
}

fn other(e: impl std::fmt::Display) -> TrustError {
    TrustError::Other(e.to_string())
}

/// Options that make memory tell: one small heap, touched at once, and the JVM's own account.
const OPTIONS: [&str; 5] = [
    "-XX:+UseSerialGC",
    "-Xms64m",
    "-Xmx64m",
    "-XX:+AlwaysPreTouch",
    "-XX:NativeMemoryTracking=summary",
];

/// Attaches and detaches; takes figures after each of these numbers of cycles.
pub fn cycles(jdk: &Jdk, samples: &[u32]) -> Result<Vec<Figures>, TrustError> {
    let folder = Folder::new("memory")?;
    let source = folder.join("Memory.java");
    std::fs::write(&source, program())?;
    let classes = folder.join("classes");
    std::fs::create_dir_all(&classes)?;
    jdk.compile(&files(folder.path(), "java")?, &classes)?;
    let java = Process::new(jdk.tool("java"))
        .args(OPTIONS)
        .arg("-cp")
        .arg(&classes)
        .arg("Memory");
    let live = Live::start(&command::run(&[], &java)).map_err(other)?;
    let plan = r#"for i in 0..5 {
        let h = methods(["Many*::m*(..)", "Memory::spin(..)", "Memory::work(..)"]).blocks().before(counter());
        if h.hits() < 0 { print("never"); }
        h.detach();
    }"#;
    let mut figures = Vec::new();
    let mut done = 0;
    for sample in samples {
        while done < *sample {
            live.value(plan).map_err(other)?;
            done += 5;
        }
        let now = measure(jdk, &live, done)?;
        eprintln!("memory: {jdk}, {done} cycles: {:?}", now.values);
        figures.push(now);
    }
    // That versions were entered is seen by their counts.
    let id = live
        .value(r#"methods("Many*::m*(..)").before(counter())"#)
        .map_err(other)?;
    crate::live::until("hits", || live.sum(&id), |n| *n > 100).map_err(other)?;
    let output = live.stop().map_err(other)?;
    if output.code != 0 || !output.err.is_empty() {
        return Err(other(format!("exit {}: {}", output.code, output.err)));
    }
    Ok(figures)
}

/// Loaders that come and go with armed classes that have versions.
pub fn loaders(jdk: &Jdk, samples: &[u32]) -> Result<Vec<Figures>, TrustError> {
    let programs = Programs::of(jdk.clone(), "threads").map_err(other)?;
    let folder = Folder::new("memory")?;
    let classes = folder.join("guests");
    let source = folder.join("Many.java");
    std::fs::write(&source, many(5))?;
    std::fs::create_dir_all(&classes)?;
    jdk.compile(&[source], &classes)?;
    let plan = folder.join("plan.rhai");
    std::fs::write(
        &plan,
        "methods(\"Many*::*(..)\").blocks().before(counter());",
    )?;
    let java = Process::new(jdk.tool("java"))
        .args(OPTIONS)
        .arg("-cp")
        .arg(programs.classes().path())
        .arg("Guests")
        .arg(&classes);
    let plan = plan.display().to_string();
    let mut live = Live::start(&command::run(&["--plan", &plan], &java)).map_err(other)?;
    let mut figures = Vec::new();
    let mut done = 0;
    for sample in samples {
        while done < *sample {
            live.say("10").map_err(other)?;
            live.line("done").map_err(other)?;
            done += 10;
        }
        let now = measure(jdk, &live, done)?;
        eprintln!("memory: {jdk}, {done} loaders: {:?}", now.values);
        figures.push(now);
    }
    let output = live.stop().map_err(other)?;
    if output.code != 0 {
        return Err(other(format!("exit {}: {}", output.code, output.err)));
    }
    Ok(figures)
}

/// `jcmd PID COMMAND…`.
fn jcmd(jdk: &Jdk, live: &Live, command: &[&str]) -> Result<String, TrustError> {
    let output = Process::new(jdk.tool("jcmd"))
        .arg(live.pid().to_string())
        .args(command)
        .limit(Duration::from_secs(60))
        .run()?;
    Ok(output.out)
}

fn measure(jdk: &Jdk, live: &Live, cycle: u32) -> Result<Figures, TrustError> {
    // Metadata of a class goes one collection after its last object; twice, and time for the threads that clean up.
    for _ in 0..3 {
        jcmd(jdk, live, &["GC.run"])?;
        std::thread::sleep(Duration::from_millis(300));
    }
    // Not there on every JDK; then what `malloc` keeps counts.
    let _ = jcmd(jdk, live, &["System.trim_native_heap"]);
    let tracked = jcmd(jdk, live, &["VM.native_memory", "summary", "scale=KB"])?;
    let committed = |name: &str| -> i64 {
        tracked
            .lines()
            .filter_map(|line| line.trim().strip_prefix('-'))
            .find(|line| line.trim().starts_with(name))
            .and_then(|line| after(line, "committed="))
            .unwrap_or(0)
    };
    let total = tracked
        .lines()
        .find(|l| l.trim().starts_with("Total"))
        .and_then(|l| after(l, "committed="))
        .ok_or_else(|| other(format!("no native memory tracking: {tracked}")))?;
    let apart = [
        "Java Heap",
        "Metaspace",
        "Class",
        "Thread",
        "Code",
        "Compiler",
        "Arena Chunk",
        "Native Memory Tracking",
        "Shared class space",
    ];
    let native = total - apart.iter().map(|n| committed(n)).sum::<i64>();
    let code = jcmd(jdk, live, &["Compiler.codecache"])?;
    let code = code.lines().filter_map(|l| after(l, " used=")).sum();
    let counters = jcmd(jdk, live, &["PerfCounter.print"])?;
    let counter = |name: &str| {
        counters
            .lines()
            .find_map(|l| l.strip_prefix(name)?.strip_prefix('=')?.parse::<i64>().ok())
            .unwrap_or(0)
    };
    let metaspace = counter("sun.gc.metaspace.used") / 1024;
    if metaspace == 0 {
        return Err(other(format!("no Metaspace: {counters}")));
    }
    let loaded = counter("java.cls.loadedClasses") + counter("java.cls.sharedLoadedClasses");
    let unloaded = counter("java.cls.unloadedClasses") + counter("java.cls.sharedUnloadedClasses");
    let status = std::fs::read_to_string(format!("/proc/{}/status", live.pid()))?;
    let resident = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .and_then(|l| l.trim().split(' ').next()?.parse::<i64>().ok())
        .unwrap_or(0);
    Ok(Figures {
        cycle,
        values: [loaded - unloaded, metaspace, code, native, resident - total],
        loaded,
        resident,
    })
}

/// The number after a word.
fn after(line: &str, word: &str) -> Option<i64> {
    let rest = &line[line.find(word)? + word.len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The forms of the methods; `@M@` and `@N@` are numbers.
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

/// Classes `Many0` … with twenty methods each, and `all`, which calls them.
fn many(classes: usize) -> String {
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

/// Two threads that run 200 methods all the time, and two whose loops never end.
fn program() -> String {
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
