//! The part `threads`. Counts are exact when many platform or virtual threads count at the same
//! time. No deadlock occurs when classes are loaded and initialised in parallel while a plan
//! attaches, detaches and edits.

use std::path::Path;
use std::time::{Duration, Instant};

use super::part::{Part, Scope, Table, TrustError};
use crate::command;
use crate::folder::{Folder, files, workspace};
use crate::java_programs::Programs;
use crate::jdk::Jdk;
use crate::live::{Live, LiveError, number, until};
use crate::process::Process;

/// Number of classes that threads load under a storm in full scope.
const CLASSES: usize = 5000;

/// Number of class loaders that share them.
const LOADERS: usize = 4;

/// Runs the part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let begun = Instant::now();
    let mut part = Part::new("threads", "Threads");
    part.words = vec![
        "Sixteen platform threads run the same methods continuously on the two processors. \
         Counters on entries, exits, blocks, loops and edges are attached while they run. Then \
         the threads meet at a barrier and do a known amount of work, and the increase of the \
         counters is compared with the exact numbers. 10,000 virtual threads do the same on JDKs \
         that have them; they yield and sleep inside counted methods, and every other one is \
         pinned to its carrier."
            .into(),
        format!(
            "Eight threads load and initialise {CLASSES} generated classes, each in another \
             order, through {LOADERS} parallel-capable loaders. Superclasses and interfaces with \
             default methods are in other loaders, and static initialisers use other classes, \
             which another thread may be initialising. At the same time, a plan attaches, \
             detaches and edits on these classes. The output must be that of a plain run. A run \
             that does not end within its limit is a deadlock: it fails with a dump of all \
             threads."
        ),
    ];
    let mut counts = Table::new(
        "Counts",
        &["JDK", "threads", "rows compared", "counted", "differences"],
    );
    let mut storm = Table::new(
        "Classes that load under a storm",
        &[
            "JDK",
            "classes",
            "loaders",
            "threads",
            "plain",
            "under the storm",
            "attached or edited",
            "deadlocks",
        ],
    );
    let classes = if scope.quick { 1000 } else { CLASSES };
    let mut generated = None;
    for jdk in &scope.jdks {
        eprintln!("threads: counts on {jdk}");
        let mut tests: Vec<(&str, Result<Counted, TrustError>)> =
            vec![("16 platform", platform_threads(jdk, scope.quick))];
        if jdk.major() >= 21 {
            let n = if scope.quick { 2000 } else { 10_000 };
            tests.push(("10,000 virtual", virtual_threads(jdk, n)));
        }
        for (what, result) in tests {
            match result {
                Ok(c) => {
                    let row = [&c.rows.to_string(), &c.hits.to_string()];
                    counts.rows.push(vec![
                        jdk.major().to_string(),
                        what.into(),
                        row[0].clone(),
                        row[1].clone(),
                        c.differences.len().to_string(),
                    ]);
                    let all = c.differences.into_iter();
                    part.failures
                        .extend(all.map(|d| format!("{jdk}, {what}: {d}")));
                }
                Err(e) => part.failures.push(format!("{jdk}, {what}: {e}")),
            }
        }
        if generated.is_none() {
            eprintln!("threads: compiling {classes} classes");
            generated = Some(generate(jdk, classes)?);
        }
        let Some(generated) = &generated else {
            continue;
        };
        eprintln!("threads: loading on {jdk}");
        match loading(jdk, generated) {
            Ok(l) => storm.rows.push(vec![
                jdk.major().to_string(),
                classes.to_string(),
                LOADERS.to_string(),
                "8".into(),
                format!("{:.1} s", l.plain),
                format!("{:.1} s", l.storm),
                l.made.to_string(),
                "0".into(),
            ]),
            Err(e) => part.failures.push(format!("{jdk}, loading: {e}")),
        }
    }
    part.tables = vec![counts, storm];
    Ok(part.with_duration_since(begun))
}

/// The result of a comparison of counts.
pub struct Counted {
    /// Number of compared rows.
    pub rows: usize,
    /// Sum of the hits of these rows.
    pub hits: u64,
    /// One line for each row with a wrong count.
    pub differences: Vec<String>,
}

/// Returns the hits of an instrument, keyed by method, line, fragment and target.
fn hits(live: &Live, id: &str) -> Result<Vec<(String, u64)>, LiveError> {
    let report = live.report()?;
    let found = report
        .instruments
        .iter()
        .find(|one| one.id.as_str() == Some(id));
    let points = found.map(|i| i.points.as_slice()).unwrap_or_default();
    Ok(points
        .iter()
        .map(|p| {
            let method = p.method.split('(').next().unwrap_or_default();
            let at = p.fragment.map_or("-".into(), |f| f.to_string());
            let to = p.to.map_or(String::new(), |t| format!(">{t}"));
            (format!("{method} {at}{to}"), p.hits)
        })
        .collect())
}

/// Runs `tests/java/threads/Turns.java`: sixteen threads, instruments that are attached in between,
/// then a known amount of work.
pub fn platform_threads(jdk: &Jdk, quick: bool) -> Result<Counted, TrustError> {
    let programs = Programs::compile_folder(jdk.clone(), "threads")?;
    let rounds: u64 = if quick { 2000 } else { 20_000 };
    let mut live = programs.armed("Turns")?;
    // Wait until all threads are working, and attach the instruments only then.
    std::thread::sleep(Duration::from_millis(700));
    let all = r#"methods(["Turns::step(..)", "Turns::work(..)", "Turns::add(..)", "Turns$Cell::put(..)"])"#;
    let places = [
        "before(counter())",
        "after(counter())",
        "blocks().before(counter())",
        "blocks().after(counter())",
        "loops().before(counter())",
        "edges().before(counter())",
        "exits().before(counter())",
    ];
    let mut ids = Vec::new();
    for place in places {
        let id = live.value(&format!("{all}.{place}"))?;
        ids.push(id);
    }
    // Probe code that all threads run and that updates one table. The table must count every
    // execution.
    let code = format!(
        "let t = tally(); let n = per_thread(0); let m = {all};\n\
         let h = m.before(|p| {{ n.push(thread_id()); t.count(n.pop(), here()) }});\n\
         at_exit(|| {{ let sum = t.rest().count; for row in t.rows() {{ sum += row.count; }} print(`tables ${{sum}} ${{h.hits()}}`) }});\n\
         h"
    );
    ids.push(live.value(&code)?);
    let first = ids.first().cloned().unwrap_or_default();
    until("hits", || live.sum(&first), |n| *n > 1000)?;
    live.say("quiet")?;
    live.line("quiet")?;
    let mut before = Vec::new();
    for id in &ids {
        before.push(hits(&live, id)?);
    }
    live.say(&format!("work {rounds}"))?;
    live.line("worked")?;
    let mut counted = Counted {
        rows: 0,
        hits: 0,
        differences: Vec::new(),
    };
    // `step` is called 16 · `rounds` times, and takes its first branch in a quarter of the calls.
    // `work` is called once per thread.
    let steps = 16 * rounds;
    let quarter = steps / 4;
    let known = |name: &str| -> Option<u64> {
        Some(match name {
            "step" | "add" | "put" => steps,
            "work" => 16,
            _ => return None,
        })
    };
    let attached = places.into_iter().chain(["before(|p| …)"]);
    for ((id, place), before) in ids.iter().zip(attached).zip(before) {
        let after = hits(&live, id)?;
        let gained: Vec<(String, u64)> = after
            .iter()
            .map(|(key, n)| {
                let old = before.iter().find(|b| b.0 == *key).map_or(0, |b| b.1);
                (key.clone(), n - old)
            })
            .collect();
        for (key, n) in &gained {
            counted.rows += 1;
            counted.hits += n;
            let (name, at) = key.split_once(' ').unwrap_or((key, ""));
            let total = known(name).unwrap_or(0);
            // The fragments of `step`: 0 is the test, 1 the first branch, 2 the rest. `work` runs
            // `rounds` iterations of its loop.
            let right = match (name, at) {
                (_, "-") => *n == total || *n == 0 && place.starts_with("exits"),
                ("step", "0") => *n == total,
                ("step", "1" | "0>1") => *n == quarter,
                ("step", "2" | "0>2") => *n == total - quarter,
                ("add" | "put", _) => *n == total,
                ("work", "0" | "3" | "0>1" | "1>3") => *n == 16,
                ("work", "1") => *n == steps + 16,
                ("work", "2" | "1>2" | "2>1") => *n == steps,
                _ => false,
            };
            if !right {
                let text = format!("{place}: {key}: {n} where {total} activations were");
                counted.differences.push(text);
            }
        }
        if gained.is_empty() {
            counted.differences.push(format!("{place}: nothing"));
        }
    }
    let output = live.stop()?;
    let tables = output
        .err
        .trim()
        .strip_prefix("tables ")
        .and_then(|t| t.split_once(' '));
    if output.code != 0 || tables.is_none_or(|(sum, hits)| sum != hits) {
        counted.differences.push(output.err);
    }
    Ok(counted)
}

/// Runs `tests/java/threads/Virtual.java` with `threads` virtual threads.
pub fn virtual_threads(jdk: &Jdk, threads: usize) -> Result<Counted, TrustError> {
    let programs = Programs::compile_folder(jdk.clone(), "threads")?;
    let java = programs
        .launcher()
        .args(["--add-exports", "java.base/jdk.internal.vm=ALL-UNNAMED"])
        .arg("-cp")
        .arg(programs.classes().path())
        .arg("Virtual")
        .arg(threads.to_string());
    let plain = java.run()?.succeeded("Virtual")?;
    let folder = Folder::new("virtual")?;
    let (plan, file) = (folder.join("plan.rhai"), folder.join("report.json"));
    std::fs::write(
        &plan,
        "let m = methods(\"Virtual::counted(..)\"); m.blocks().before(counter()); m.before(counter()); m.after(counter());",
    )?;
    let options = [
        "--plan".to_string(),
        plan.display().to_string(),
        "--report".to_string(),
        file.display().to_string(),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let output = command::run(&options, &java).run()?;
    let report = crate::report::Report::read(&file)?;
    let mut counted = Counted {
        rows: 0,
        hits: 0,
        differences: Vec::new(),
    };
    if output.out != plain.out || output.code != 0 {
        let text = format!("output {} instead of {}", output.out, plain.out);
        counted.differences.push(text + &output.err);
    }
    let said = |word: &str| number(&plain.out, word).unwrap_or(-1) as u64;
    let (calls, iterations, even) = (said("calls"), said("turns"), said("even"));
    // The fragments: 0 before the loop, 1 its test, 2 the test inside, 3 even, 4 odd, 5 the end of
    // an iteration, 6 the return.
    for point in report.points("counter") {
        let expected = match point.fragment {
            None | Some(0 | 6) => calls,
            Some(1) => calls + iterations,
            Some(2 | 5) => iterations,
            Some(3) => even,
            Some(4) => iterations - even,
            Some(_) => u64::MAX,
        };
        counted.rows += 1;
        counted.hits += point.hits;
        if point.hits != expected {
            let at = point.fragment;
            let text = format!("fragment {at:?}: {} instead of {expected}", point.hits);
            counted.differences.push(text);
        }
    }
    if counted.rows < 9 {
        let text = format!("{} rows only: {}", counted.rows, output.err);
        counted.differences.push(text);
    }
    Ok(counted)
}

/// The durations of a program whose threads load classes.
pub struct LoadingTimes {
    /// Seconds of the plain run.
    pub plain: f64,
    /// Seconds under the storm.
    pub storm: f64,
    /// Number of instruments and edits that the storm made.
    pub made: u64,
}

/// Generated classes in a temporary folder.
pub struct Generated {
    folder: Folder,
    classes: usize,
}

/// Generates and compiles `classes` classes with this JDK.
pub fn generate(jdk: &Jdk, classes: usize) -> Result<Generated, TrustError> {
    let folder = Folder::new("generated")?;
    let (sources, into) = (folder.join("src"), folder.join("gen"));
    write_classes(classes, &sources)?;
    std::fs::create_dir_all(&into)?;
    jdk.compile(&files(&sources, "java")?, &into)?;
    Ok(Generated { folder, classes })
}

/// Loads the generated classes in eight threads, plain and under a storm. If there is a deadlock,
/// the error has a thread dump.
pub fn loading(jdk: &Jdk, generated: &Generated) -> Result<LoadingTimes, TrustError> {
    let classes = generated.classes;
    let folder = Folder::new("loading")?;
    let programs = Programs::compile_folder(jdk.clone(), "threads")?;
    // The generated classes are on no class path, so only the program's own loaders find them.
    let java = programs
        .launcher()
        .arg("-Xmx512m")
        .arg("-cp")
        .arg(programs.classes().path())
        .arg("Loading")
        .arg(generated.folder.join("gen"))
        .arg(classes.to_string())
        .arg(LOADERS.to_string());
    let begun = Instant::now();
    let expected = run_with_thread_dump(jdk, &java, Duration::from_secs(120))?;
    let plain = begun.elapsed().as_secs_f64();
    let plan = folder.join("storm.rhai");
    std::fs::copy(workspace().join("tests/java/threads/storm.rhai"), &plan)?;
    let plan = plan.display().to_string();
    let begun = Instant::now();
    let limit = Duration::from_secs(120 + classes as u64 / 10);
    let (out, err) = run_with_thread_dump(jdk, &command::run(&["--plan", &plan], &java), limit)?;
    let storm = begun.elapsed().as_secs_f64();
    if out != expected.0 {
        return Err(TrustError::Differs(format!(
            "{out} instead of {}; {err}",
            expected.0
        )));
    }
    let made = err
        .lines()
        .find(|line| line.starts_with("storm made "))
        .and_then(|line| number(line, "made"))
        .unwrap_or(0) as u64;
    if made < 20 {
        return Err(TrustError::TooFew {
            done: made,
            unit: "operations of the storm",
            output: err,
        });
    }
    Ok(LoadingTimes { plain, storm, made })
}

/// Runs a program whose last line begins with `sum`, and returns its standard output without the
/// process id, and its standard error. If it does not end in time, the error has a thread dump.
fn run_with_thread_dump(
    jdk: &Jdk,
    process: &Process,
    limit: Duration,
) -> Result<(String, String), TrustError> {
    let mut live = Live::start(process)?;
    let begun = Instant::now();
    let sum = loop {
        match live.line("sum ") {
            Ok(sum) => break sum,
            Err(LiveError::Silent(_, seen)) => {
                let ended = !Path::new(&format!("/proc/{}", live.pid())).exists();
                if ended || begun.elapsed() > limit {
                    let dump = Process::new(jdk.tool("jcmd"))
                        .args([&live.pid().to_string(), "Thread.print", "-l"])
                        .limit(Duration::from_secs(30))
                        .run();
                    let dump = dump.map_or_else(|e| e.to_string(), |o| o.out + &o.err);
                    return Err(TrustError::Late {
                        seconds: limit.as_secs(),
                        output: format!("{seen}\n{dump}"),
                        process: process.to_string(),
                    });
                }
            }
            Err(e) => return Err(e.into()),
        }
    };
    let output = live.stop()?;
    if output.code != 0 {
        return Err(TrustError::ExitCode {
            program: "the program".into(),
            code: output.code,
            output: output.err,
        });
    }
    Ok((sum, output.err))
}

/// Writes the classes `gen.C0`, `gen.C1`, … Every tenth one is an interface with a default method.
/// Class `k` extends class `k - 7` or implements interfaces of lower numbers. Its initialiser uses
/// three classes of lower numbers. So the initialisers cannot wait for each other in a cycle, but
/// many wait in a chain.
fn write_classes(count: usize, into: &Path) -> std::io::Result<()> {
    let folder = into.join("gen");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("Seeds.java"), SEEDS)?;
    for k in 0..count {
        std::fs::write(folder.join(format!("C{k}.java")), class(k))?;
    }
    Ok(())
}

/// The class that all generated classes use.
const SEEDS: &str = "package gen;

public class Seeds {
    private static final java.util.concurrent.atomic.AtomicLong USED = new java.util.concurrent.atomic.AtomicLong();

    public static long of(int k) {
        return k * 2654435761L >>> 7;
    }

    public static void used() {
        USED.incrementAndGet();
    }
}
";

/// The template of an interface with a default method.
const INTERFACE: &str = "package gen;

public interface C@K@@ABOVE@ {
    long SEED = Seeds.of(@K@);

    default long twist(long x) {
        long y = x;
        for (int i = 0; i < @A@; i++) {
            y = y * 31 + SEED;
        }
        return y;
    }

    static long run(long x) {
        return x * @A@ + SEED;
    }
}
";

/// The template of a class.
const CLASS: &str = "package gen;

public class C@K@@ABOVE@ {
    public static final long STATE;

    static {
        long x = Seeds.of(@K@);
        if (x % 3 == 0) {
            Thread.yield();
        }
        x += C@1@.run(x) ^ C@2@.run(x + 1);
        x -= C@3@.run(3);
        STATE = x;
    }

    protected long own@K@ = STATE;

    public C@K@() {
        own@K@ += twist(own@K@);
    }

    @Override
    public long twist(long x) {
        return C@I@.super.twist(x) ^ @B@;
    }

    public static long run(long x) {
        long sum = x;
        for (int i = 0; i < @B@; i++) {
            sum += (sum & 1) == 0 ? i : -i * 3L;
        }
        return sum;
    }

    public static long use(long x) {
        try {
            C@K@ made = new C@K@();
            synchronized (made) {
                made.own@K@ += x;
            }
            return made.twist(run(made.own@K@)) + STATE;
        } finally {
            Seeds.used();
        }
    }
}
";

fn class(k: usize) -> String {
    // The number of a used class is always lower.
    let lower = |n: usize| ((k * 7919 + n * 104_729) % k.max(1)).to_string();
    let interface = k.is_multiple_of(10);
    let above = if interface {
        (k % 300 >= 30).then(|| format!(" extends C{}", k - 30))
    } else {
        // The superclass is from another group of ten, so that the interface is a new one.
        let superclass = (k % 70 >= 7 && k % 10 < 7).then(|| k - 7);
        let superclass = superclass.filter(|s| s % 10 != 0);
        let superclass = superclass.map_or(String::new(), |s| format!(" extends C{s}"));
        Some(format!("{superclass} implements C{}", k / 10 * 10))
    };
    let text = if interface { INTERFACE } else { CLASS };
    text.replace("@K@", &k.to_string())
        .replace("@ABOVE@", &above.unwrap_or_default())
        .replace("@I@", &(k / 10 * 10).to_string())
        .replace("@A@", &(k % 3 + 2).to_string())
        .replace("@B@", &(k % 9 + 3).to_string())
        .replace("@1@", &lower(1))
        .replace("@2@", &lower(2))
        .replace("@3@", &lower(3))
}
