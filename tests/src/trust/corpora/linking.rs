//! Loads classes in real JVMs with full verification. Each class must have the same outcome as
//! without the agent.
//!
//! One JVM after the other loads and links a piece of a corpus: plain, armed under each policy,
//! with a counter on every block from the start, and with counters that are attached after all
//! classes are linked. In the last mode, the agent also emits OSR entries, because it must assume
//! that methods are running.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::corpus::Corpus;
use crate::command::{run, veneer};
use crate::folder::{Folder, workspace};
use crate::live::{Live, LiveError};
use crate::process::Process;
use crate::trust::{Scope, TrustError};

/// Approximate number of methods that one JVM loads. With this number it needs less than two
/// gigabytes, and the agent does not run out of counters.
const METHODS_PER_JVM: u64 = 40_000;

/// Time limit of one JVM, generous for machines that run other programs too.
const JVM_TIMEOUT: Duration = Duration::from_secs(1800);

/// Refusals that are faults of Veneer. All other refusals are properties of the class or method.
const FAULT_CODES: [&str; 7] = [
    "AnchorFailed",
    "BrokenClass",
    "BrokenCode",
    "CheckFailed",
    "CountersExhausted",
    "Internal",
    "VersionRejected",
];

/// The plan that counts every block of every method from the start.
const BLOCKS_PLAN: &str = "methods(\"*..*::*(..)\").limit(100000000).blocks().before(counter());\n";

/// OSR entries are emitted for every twelfth class of a piece. For all classes they would take as
/// long as everything else together.
const OSR_CLASS_STRIDE: usize = 12;

/// The plan that is attached after all classes are loaded. It attaches to at most 64 methods at a
/// time, because for so few methods the agent emits OSR entries at once.
const LATER_PLAN: &str = r#"
let few = 64;
for class in classes {
    let patterns = methods(class).list().map(|m| m.pattern);
    // One pattern is found faster than many.
    if patterns.len() > 0 && patterns.len() <= few { patterns = [class]; }
    while !patterns.is_empty() {
        methods(patterns.extract(0, few)).limit(100000000).blocks().before(counter());
        patterns = if patterns.len() > few { patterns.extract(few) } else { [] };
    }
}
"#;

/// Number of classes in one program. More would exceed the limits of plans.
const CLASSES_PER_PROGRAM: usize = 250;

/// The mode in which the classes of a piece are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Armed under this policy.
    Armed(&'static str),
    /// Policy `block`, with a counter on each block from the start.
    Blocks,
    /// Policy `block`, with a counter on each block that is attached after all classes are linked.
    OsrEntries,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::Armed(policy) => write!(f, "armed, {policy}"),
            Mode::Blocks => f.write_str("every block counted"),
            Mode::OsrEntries => f.write_str("every block counted, attached later"),
        }
    }
}

/// The modes of jars in quick scope.
const QUICK: [Mode; 3] = [Mode::Armed("loop"), Mode::Blocks, Mode::OsrEntries];

/// A part of a corpus that one JVM loads.
pub struct Piece {
    part: u64,
    parts: u64,
    modes: Vec<Mode>,
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "piece {} of {}", self.part + 1, self.parts)
    }
}

/// Splits a corpus with this number of methods into pieces.
pub fn pieces(corpus: &Corpus, methods: u64, scope: &Scope) -> Vec<Piece> {
    let parts = methods.div_ceil(METHODS_PER_JVM).max(1);
    // Most modules of a second JDK have the same classes as those of the first.
    let modes = match scope.jdks.first() == Some(&corpus.jdk) {
        true => vec![
            Mode::Armed("method"),
            Mode::Armed("loop"),
            Mode::Armed("call"),
            Mode::Armed("block"),
            Mode::Blocks,
            Mode::OsrEntries,
        ],
        false => vec![Mode::Armed("block"), Mode::Blocks],
    };
    let modes: Vec<Mode> = match (scope.quick, corpus.is_jdk()) {
        (true, true) => vec![Mode::Blocks],
        (true, false) => QUICK.to_vec(),
        (false, _) => modes,
    };
    let piece = |part| Piece {
        part,
        parts,
        modes: modes.clone(),
    };
    (0..parts).map(piece).collect()
}

/// The results of the JVMs for a piece.
pub struct Linked {
    /// Number of classes in the piece.
    pub classes: u64,
    /// Number of classes that link in a plain JVM. The others need classes that are missing.
    pub plain: u64,
    /// The result of each mode.
    pub modes: Vec<(Mode, Run)>,
}

/// The result of one JVM under the agent.
#[derive(Default)]
pub struct Run {
    /// Number of armed methods.
    pub methods: u64,
    /// Number of points with a counter.
    pub points: u64,
    /// Number of version classes that were defined, and therefore verified.
    pub versions: u64,
    /// Number of classes that the verifier rejected here and not in the plain JVM, plus rejected
    /// versions.
    pub rejected: u64,
    /// Number of refusals by code: of classes, of methods, and of points in methods.
    pub refusals: BTreeMap<String, [u64; 3]>,
    /// One line for each failure.
    pub failures: Vec<String>,
}

/// The compiled Java program and the files of the plans.
pub struct Programs {
    classes: PathBuf,
    blocks: PathBuf,
    reports: PathBuf,
}

impl Programs {
    /// Compiles the program into a folder, and writes the plans there.
    pub fn compile(scope: &Scope, folder: &Folder) -> Result<Programs, TrustError> {
        let classes = folder.join("classes");
        std::fs::create_dir_all(&classes)?;
        if let Some(jdk) = scope.jdks.first() {
            jdk.compile(
                &[workspace().join("tests/java/corpora/LinkAll.java")],
                &classes,
            )?;
        }
        let blocks = folder.join("blocks.rhai");
        std::fs::write(&blocks, BLOCKS_PLAN)?;
        Ok(Programs {
            classes,
            blocks,
            reports: folder.path().to_path_buf(),
        })
    }
}

/// Runs a piece in all its modes.
pub fn link(programs: &Programs, corpus: &Corpus, piece: &Piece) -> Result<Linked, TrustError> {
    let plain = java(programs, corpus, piece, false)?
        .run()?
        .succeeded("LinkAll")?;
    let expected: HashMap<&str, &str> = plain.out.lines().filter_map(class_line).collect();
    let linked = expected
        .values()
        .filter(|o| o.starts_with("linked "))
        .count();
    // Jython stores compiled Python in paths that are not the names of the classes. A loader of
    // Jython defines these classes.
    let elsewhere = |o: &&&str| o.contains("(wrong name: ");
    let others = expected.len() - expected.values().filter(elsewhere).count();
    if linked * 2 < others {
        let lines: Vec<&str> = plain.out.lines().take(20).collect();
        return Err(TrustError::TooFew {
            done: linked as u64,
            unit: "classes that link in a plain JVM",
            output: format!(
                "{corpus}, {piece}, of {others} classes; the first are:\n{}",
                lines.join("\n")
            ),
        });
    }
    let mut modes = Vec::new();
    for mode in &piece.modes {
        let begun = Instant::now();
        modes.push((*mode, run_mode(programs, corpus, piece, *mode, &expected)?));
        let took = begun.elapsed().as_secs_f64();
        eprintln!("corpora: {took:4.0} s for {corpus}, {piece}: {mode}");
    }
    Ok(Linked {
        classes: expected.len() as u64,
        plain: linked as u64,
        modes,
    })
}

/// Parses a line such as `a.b.C linked 3 2 1` into the class and its outcome. Returns `None` for
/// the first and last lines of the output.
fn class_line(line: &str) -> Option<(&str, &str)> {
    let around = ["classes ", "pid "];
    let (class, outcome) = line.split_once(' ')?;
    (!around.iter().any(|word| line.starts_with(word))).then_some((class, outcome))
}

fn java(
    programs: &Programs,
    corpus: &Corpus,
    piece: &Piece,
    wait: bool,
) -> Result<Process, TrustError> {
    let mut paths = vec![programs.classes.clone()];
    if !corpus.is_jdk() {
        paths.extend(corpus.sources.iter().map(PathBuf::from));
    }
    paths.extend(corpus.needs.iter().cloned());
    let paths = std::env::join_paths(paths)?;
    let mut java = Process::new(corpus.jdk.tool("java"))
        .args([
            "-Xmx1g",
            "-XX:+UseSerialGC",
            // No method of a corpus runs. C2 would only compile the program that loads the classes.
            "-XX:TieredStopAtLevel=1",
            "-XX:+UnlockDiagnosticVMOptions",
        ])
        .args([
            "-XX:+BytecodeVerificationLocal",
            "-XX:+BytecodeVerificationRemote",
        ])
        .limit(JVM_TIMEOUT);
    if corpus.is_jdk() {
        java = java.args(["--add-modules", "ALL-SYSTEM"]);
    }
    java = java
        .arg("-cp")
        .arg(paths)
        .arg("LinkAll")
        .args([piece.part.to_string(), piece.parts.to_string()]);
    if wait {
        java = java.arg("wait");
    }
    Ok(java.args(&corpus.sources))
}

fn run_mode(
    programs: &Programs,
    corpus: &Corpus,
    piece: &Piece,
    mode: Mode,
    expected: &HashMap<&str, &str>,
) -> Result<Run, TrustError> {
    let report = programs.reports.join(format!(
        "{}-{}-{}-{mode}.json",
        corpus.jdk.major(),
        corpus.name.replace('/', " "),
        piece.part
    ));
    let (file, blocks) = (report.to_string_lossy(), programs.blocks.to_string_lossy());
    let mut options = vec!["--report", &file];
    match corpus.is_jdk() {
        true => options.extend(["--arm", "*..*"]),
        false => options.push("--arm-all"),
    }
    match mode {
        // With this option, every call ends a fragment.
        Mode::Armed("call") => options.extend(["--policy", "call", "--calls", "*..*::*(..)"]),
        Mode::Armed(policy) => options.extend(["--policy", policy]),
        Mode::Blocks => options.extend(["--policy", "block", "--plan", &blocks]),
        Mode::OsrEntries => options.extend(["--policy", "block"]),
    }
    let java = java(programs, corpus, piece, mode == Mode::OsrEntries)?;
    let process = run(&options, &java);
    let mut done = Run::default();
    let label = format!("{corpus}, {piece}, {mode}");
    let (code, out, err) = match mode {
        Mode::OsrEntries => attached_later(&process, expected, &mut done, &label)?,
        _ => {
            let output = process.run()?;
            (output.code, output.out, output.err)
        }
    };
    if code != 0 || !out.ends_with("end\n") {
        let tail: Vec<&str> = err.lines().rev().take(5).collect();
        done.failures.push(format!(
            "{label}: the JVM ended with {code}: {}",
            tail.join(" | ")
        ));
        return Ok(done);
    }
    compare(&out, expected, &label, &mut done);
    let text = std::fs::read(&report)?;
    add_report(&serde_json::from_slice(&text)?, expected, &label, &mut done);
    std::fs::remove_file(&report)?;
    Ok(done)
}

/// Starts the program, attaches the counters after all classes are linked, and lets the program
/// continue. Returns the exit code and both streams.
fn attached_later(
    process: &Process,
    expected: &HashMap<&str, &str>,
    done: &mut Run,
    label: &str,
) -> Result<(i32, String, String), TrustError> {
    let live_error = |source: LiveError| TrustError::LiveRun {
        run: label.to_string(),
        source,
    };
    let mut live = Live::start(process).map_err(live_error)?;
    let end = Instant::now() + JVM_TIMEOUT;
    loop {
        match live.line("linked") {
            // The line `linked` alone. Lines with outcomes begin with the name of the class.
            Ok(rest) if rest.is_empty() => break,
            Ok(_) => {}
            Err(LiveError::Silent(..)) if Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(error) => return Err(live_error(error)),
        }
    }
    let pid = live.pid().to_string();
    let linked = expected.iter().filter(|(_, o)| o.starts_with("linked "));
    let mut classes: Vec<&str> = linked.map(|(class, _)| *class).collect();
    classes.sort_unstable();
    let classes: Vec<&str> = classes.into_iter().step_by(OSR_CLASS_STRIDE).collect();
    for some in classes.chunks(CLASSES_PER_PROGRAM) {
        let code = format!(
            "let classes = {};{LATER_PLAN}",
            serde_json::to_string(some)?
        );
        let attached = veneer()
            .args(["exec", &pid, "-e", &code])
            .limit(JVM_TIMEOUT)
            .run()?;
        if attached.code != 0 {
            let what = format!("{}{}", attached.out, attached.err);
            let first: Vec<&str> = what.lines().take(5).collect();
            done.failures
                .push(format!("{label}: {}", first.join(" | ")));
        }
    }
    let output = live.stop().map_err(live_error)?;
    Ok((output.code, output.out, output.err))
}

fn compare(out: &str, expected: &HashMap<&str, &str>, label: &str, done: &mut Run) {
    let mut seen = 0;
    for (class, outcome) in out.lines().filter_map(class_line) {
        seen += 1;
        match expected.get(class) {
            Some(plain) if *plain == outcome => {}
            plain => {
                done.rejected += u64::from(outcome.contains("VerifyError"));
                let plain = plain.unwrap_or(&"nothing");
                done.failures
                    .push(format!("{label}: {class}: {outcome}; plain: {plain}"));
            }
        }
    }
    if seen != expected.len() {
        done.failures.push(format!(
            "{label}: {seen} classes instead of {}",
            expected.len()
        ));
    }
}

/// The report without the counts of its points.
#[derive(Deserialize)]
struct ReportWithoutPoints {
    totals: Totals,
    refusals: Vec<crate::report::Refusal>,
    #[serde(default)]
    problems: Vec<Problem>,
    #[serde(rename = "instruments")]
    _instruments: IgnoredAny,
}

#[derive(Deserialize)]
struct Totals {
    methods_armed: u64,
    points: u64,
    versions: u64,
}

#[derive(Deserialize)]
struct Problem {
    message: String,
}

fn add_report(
    report: &ReportWithoutPoints,
    expected: &HashMap<&str, &str>,
    label: &str,
    done: &mut Run,
) {
    done.methods = report.totals.methods_armed;
    done.points = report.totals.points;
    done.versions = report.totals.versions;
    for problem in &report.problems {
        done.failures.push(format!("{label}: {}", problem.message));
    }
    for refusal in &report.refusals {
        // A return may legally leave values on the stack. The JDK's own generator of module
        // tables emits such code.
        let legal = refusal.reason == "BrokenCode" && refusal.detail.contains("left on the stack");
        if FAULT_CODES.contains(&refusal.reason.as_str()) && !legal {
            done.rejected += u64::from(refusal.reason == "VersionRejected");
            done.failures.push(format!(
                "{label}: {}::{}: {}: {}",
                refusal.class, refusal.method, refusal.reason, refusal.detail
            ));
        }
        // Refusals of classes in other pieces are counted there.
        if expected.contains_key(refusal.class.as_str()) {
            let kind = match refusal.method.as_str() {
                "" => 0,
                method if !method.contains('@') => 1,
                _ => 2,
            };
            done.refusals.entry(refusal.reason.clone()).or_default()[kind] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named() {
        let expected = HashMap::from([("a.B", "linked 1 0 1"), ("a.C", "linked 2 0 1")]);
        let mut done = Run::default();
        let out = "pid 7\na.B linked 1 0 1\na.C java.lang.VerifyError\nclasses 2\nlinked\nend\n";
        compare(out, &expected, "here", &mut done);
        assert_eq!(done.rejected, 1);
        assert_eq!(
            done.failures,
            ["here: a.C: java.lang.VerifyError; plain: linked 2 0 1"]
        );
        let mut short = Run::default();
        compare("a.B linked 1 0 1\nend\n", &expected, "here", &mut short);
        assert_eq!(short.failures, ["here: 1 classes instead of 2"]);
    }

    #[test]
    fn refusals_are_counted_in_the_piece_of_their_class() -> Result<(), serde_json::Error> {
        let text = r#"{"totals":{"methods_armed":5,"points":9,"versions":2},"instruments":[{"x":1}],
            "refusals":[{"class":"a.B","method":"m()V","reason":"MonitorHeld"},
                {"class":"a.B","method":"m()V@7","reason":"MonitorHeld"},
                {"class":"x.Y","method":"","reason":"OnCellPath"},
                {"class":"x.Y","method":"n()V","reason":"VersionRejected"}]}"#;
        let expected = HashMap::from([("a.B", "linked 1 0 1")]);
        let mut done = Run::default();
        add_report(&serde_json::from_str(text)?, &expected, "here", &mut done);
        assert_eq!(done.refusals.get("MonitorHeld"), Some(&[0, 1, 1]));
        assert_eq!(
            (done.refusals.len(), done.rejected, done.failures.len()),
            (1, 1, 1)
        );
        assert_eq!((done.methods, done.points, done.versions), (5, 9, 2));
        Ok(())
    }
}
