//! Runs random classes on a JVM, plain and in each mode of Veneer. The outputs must be equal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::RandomClass;
use super::null_messages::{CheckError, unsafe_classes};
use crate::command;
use crate::folder::{Folder, files, workspace};
use crate::jdk::{CompileError, Jdk};
use crate::process::{Output, Process, ProcessError};
use crate::report::{Report, ReportError};

/// The mode in which the classes are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The program runs without Veneer.
    Plain,
    /// Armed under a policy (`method`, `loop`, `call` or `block`).
    Armed(&'static str),
    /// With a counter on every block from the start.
    Counted,
    /// For this many milliseconds, while a plan attaches, redirects and detaches at random (a
    /// storm).
    Storm(u32),
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::Plain => f.write_str("plain"),
            Mode::Armed(policy) => write!(f, "armed ({policy})"),
            Mode::Counted => f.write_str("counters on all blocks"),
            Mode::Storm(_) => f.write_str("storm of patches"),
        }
    }
}

/// The mark of a class in the runner's list if the runner must not read its null-pointer messages.
const UNSAFE_NULL_MESSAGES: &str = "unsafe-null-messages";

/// All modes except the plain one and the storm.
pub const MODES: [Mode; 5] = [
    Mode::Armed("method"),
    Mode::Armed("loop"),
    Mode::Armed("call"),
    Mode::Armed("block"),
    Mode::Counted,
];

#[derive(Debug, thiserror::Error)]
pub enum RandomError {
    #[error("random classes: {0}")]
    Io(#[from] std::io::Error),
    /// A process could not be started or did not end.
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The report with the counts cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The plain run fails, so the generator is wrong and not Veneer.
    #[error("the plain run of seeds {seeds} fails: {output}")]
    Plain {
        /// The first and the last seed.
        seeds: String,
        output: String,
    },
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Lines of output that differ from those of the plain run, and counts that differ from the
    /// program's own.
    pub differences: Vec<String>,
    /// The seeds of the classes with differences.
    pub seeds: BTreeSet<u64>,
    /// Number of blocks whose counts were compared.
    pub compared: usize,
    /// Number of executed blocks without a counter, because they cannot have one.
    pub uncounted: usize,
    /// Number of rounds of the runner.
    pub rounds: u64,
    /// Number of patches that the plan of a storm made.
    pub patches: u64,
}

/// The runner, compiled for a JDK.
pub struct Runner {
    jdk: Jdk,
    classes: Folder,
}

/// Some classes in a folder, with the output of their plain run.
pub struct Batch<'r> {
    runner: &'r Runner,
    folder: Folder,
    seeds: String,
    plain: String,
    /// Lines of the form `class block count`.
    counts: String,
}

impl Runner {
    /// Compiles the runner.
    pub fn new(jdk: Jdk) -> Result<Self, RandomError> {
        let classes = Folder::new("random")?;
        let sources = files(&workspace().join("tests/java/random"), "java")?;
        jdk.compile(&sources, classes.path())?;
        Ok(Self { jdk, classes })
    }

    pub fn jdk(&self) -> &Jdk {
        &self.jdk
    }

    /// Writes the classes to a folder and runs them without Veneer.
    pub fn batch(&self, classes: &[RandomClass]) -> Result<Batch<'_>, RandomError> {
        let folder = Folder::new("random")?;
        std::fs::create_dir_all(folder.join("r"))?;
        for class in classes {
            let file = format!("{}.class", class.name().replace('.', "/"));
            std::fs::write(folder.join(&file), class.bytes())?;
        }
        let unsafe_classes = unsafe_classes(&folder.join("r"), classes.len())?;
        let mut list = String::new();
        for class in classes {
            let name = class.name();
            list += &name;
            if unsafe_classes.contains(&name) {
                list.push(' ');
                list += UNSAFE_NULL_MESSAGES;
            }
            list.push('\n');
        }
        std::fs::write(folder.join("list"), list)?;
        let seed = |class: Option<&RandomClass>| class.map_or(0, |class| class.seed);
        let seeds = format!("{}..{}", seed(classes.first()), seed(classes.last()));
        let mut batch = Batch {
            runner: self,
            folder,
            seeds,
            plain: String::new(),
            counts: String::new(),
        };
        let output = batch.java(0).run()?;
        if output.code != 0 {
            return Err(RandomError::Plain {
                seeds: batch.seeds,
                output: output.err,
            });
        }
        batch.plain = output.out;
        batch.counts = std::fs::read_to_string(batch.folder.join("blocks"))?;
        Ok(batch)
    }
}

impl Batch<'_> {
    fn java(&self, millis: u32) -> Process {
        let path = [self.runner.classes.path(), self.folder.path()]
            .map(|path| path.display().to_string())
            .join(":");
        Process::new(self.runner.jdk.tool("java"))
            .args([
                "-Xmx512m",
                // An activation in a version needs two frames, so the depth at which the stack
                // overflows differs.
                "-Xss16m",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+BytecodeVerificationRemote",
                // Otherwise compiled code throws exceptions without a stack trace after a while,
                // with and without Veneer.
                "-XX:-OmitStackTraceInFastThrow",
                "-cp",
            ])
            .arg(path)
            .arg("base.Runner")
            .arg(self.folder.join("list"))
            .arg(self.folder.join("blocks"))
            .arg(millis.to_string())
            // Generous, for machines that run other programs at the same time.
            .limit(Duration::from_secs(900))
    }

    /// The process that runs the classes in a mode.
    fn process(&self, mode: Mode) -> Result<Process, RandomError> {
        let text = |path: PathBuf| path.display().to_string();
        let only = ["--arm", "r.*"];
        let run =
            |options: &[&str], java: &Process| command::run(&[&only[..], options].concat(), java);
        Ok(match mode {
            Mode::Plain => self.java(0),
            Mode::Armed("call") => run(
                &["--policy", "call", "--calls", "r.*::*(..)"],
                &self.java(0),
            ),
            Mode::Armed(policy) => run(&["--policy", policy], &self.java(0)),
            Mode::Counted => {
                let plan = self.folder.join("counted.rhai");
                std::fs::write(&plan, "methods(\"r.*\").blocks().before(counter());\n")?;
                let (plan, report) = (text(plan), text(self.folder.join("report.json")));
                run(&["--plan", &plan, "--report", &report], &self.java(0))
            }
            Mode::Storm(millis) => {
                let plan = text(workspace().join("tests/java/random/storm.rhai"));
                run(&["--plan", &plan], &self.java(millis))
            }
        })
    }

    /// The command line of a mode, so that a developer can repeat the run.
    pub fn command_line(&self, mode: Mode) -> String {
        self.process(mode)
            .map_or_else(|error| error.to_string(), |process| process.to_string())
    }

    /// Copies the files of this batch to a folder.
    pub fn keep(&self, at: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(at.join("r"))?;
        for entry in std::fs::read_dir(self.folder.join("r"))?.flatten() {
            std::fs::copy(entry.path(), at.join("r").join(entry.file_name()))?;
        }
        std::fs::copy(self.folder.join("list"), at.join("list"))?;
        Ok(())
    }

    /// Number of methods that were called, each with all its arguments.
    pub fn methods(&self) -> usize {
        self.plain.lines().count()
    }

    /// Runs the classes in a mode, and compares the output and the counts.
    pub fn compare(&self, mode: Mode) -> Result<Outcome, RandomError> {
        let output = self.process(mode)?.run()?;
        let mut outcome = Outcome {
            rounds: crate::live::number(&output.err, "rounds")
                .and_then(|n| u64::try_from(n).ok())
                .unwrap_or(0),
            patches: crate::live::number(&output.err, "made")
                .and_then(|n| u64::try_from(n).ok())
                .unwrap_or(0),
            ..Outcome::default()
        };
        self.lines(mode, &output, &mut outcome);
        if mode == Mode::Counted && outcome.differences.is_empty() {
            let report = Report::read(&self.folder.join("report.json"))?;
            self.counts(&report, &mut outcome);
        }
        Ok(outcome)
    }

    /// Compares the output line by line with that of the plain run.
    fn lines(&self, mode: Mode, output: &Output, outcome: &mut Outcome) {
        let note = |outcome: &mut Outcome, line: &str, text: String| {
            outcome.seeds.extend(seed_of(line));
            outcome.differences.push(format!("{mode}: {text}"));
        };
        if output.code != 0 || output.out.is_empty() {
            let last: Vec<&str> = output.err.lines().take(40).collect();
            let text = format!("ended with {}: {}", output.code, last.join("\n"));
            note(outcome, "", text);
        }
        let (mut plain, mut found) = (self.plain.lines(), output.out.lines());
        loop {
            match (plain.next(), found.next()) {
                (None, None) => break,
                (Some(one), Some(other)) if one == other => {}
                (one, other) => {
                    let line = one.or(other).unwrap_or_default();
                    let text = format!(
                        "{} instead of {}",
                        other.unwrap_or("nothing"),
                        one.unwrap_or("nothing")
                    );
                    note(outcome, line, text);
                }
            }
        }
        // Only the last line of the runner and the storm's lines about refusals may be on standard
        // error.
        for line in output.err.lines() {
            let known = line.starts_with("rounds ")
                || line.starts_with("storm made ")
                || line.starts_with("refused ")
                || line.contains("storm.rhai:");
            if !known && output.code == 0 {
                note(outcome, "", format!("said on standard error: {line}"));
            }
        }
    }

    /// Compares Veneer's counts with those of the program. The first fragment of block `k` has line
    /// 16 `k`.
    fn counts(&self, report: &Report, outcome: &mut Outcome) {
        let mut own: BTreeMap<(&str, u32), u64> = BTreeMap::new();
        for line in self.counts.lines() {
            let mut words = line.split(' ');
            if let (Some(class), Some(Ok(block)), Some(Ok(count))) = (
                words.next(),
                words.next().map(str::parse),
                words.next().map(str::parse),
            ) {
                own.insert((class, block), count);
            }
        }
        for point in report.points("counter") {
            let Some(line) = point.line.filter(|line| line % 16 == 0) else {
                continue;
            };
            let expected = own
                .remove(&(point.class.as_str(), line / 16))
                .unwrap_or_default();
            outcome.compared += 1;
            if point.hits != expected {
                outcome.seeds.extend(seed_of(&point.class));
                outcome.differences.push(format!(
                    "counters on all blocks: {}.{} at line {line} counted {}, and was passed {expected} times",
                    point.class, point.method, point.hits
                ));
            }
        }
        outcome.uncounted = own.len();
    }
}

/// The seed in the name of a class in this line.
fn seed_of(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("r.C")?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Makes a class smaller while it still fails in this mode: items of methods are emptied, the last
/// one first.
pub fn shrink(
    runner: &Runner,
    class: &RandomClass,
    mode: Mode,
    attempts: usize,
) -> Result<RandomClass, RandomError> {
    let mut smallest = class.clone();
    let mut left = attempts;
    for method in (0..class.methods()).rev() {
        for item in (0..class.items(method)).rev() {
            if left == 0 {
                return Ok(smallest);
            }
            let Some(smaller) = smallest.without(method, item) else {
                continue;
            };
            left -= 1;
            let differs = runner
                .batch(std::slice::from_ref(&smaller))
                .and_then(|batch| batch.compare(mode));
            if differs.is_ok_and(|outcome| !outcome.differences.is_empty()) {
                smallest = smaller;
            }
        }
    }
    Ok(smallest)
}
