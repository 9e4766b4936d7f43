//! Random classes on a JVM: plain, and in each way in which Veneer may change how they run; the outputs must be the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::RandomClass;
use crate::command;
use crate::folder::{Folder, files, workspace};
use crate::jdk::Jdk;
use crate::process::{Output, Process, ProcessError};
use crate::report::{Report, ReportError};

/// How the classes are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Without Veneer.
    Plain,
    /// Armed under a policy (`method`, `loop`, `call`, `block`).
    Armed(&'static str),
    /// With a counter on every block from the beginning.
    Counted,
    /// For so many milliseconds, while a plan attaches, redirects and detaches at random.
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

/// All ways but the plain one.
pub const MODES: [Mode; 5] = [
    Mode::Armed("method"),
    Mode::Armed("loop"),
    Mode::Armed("call"),
    Mode::Armed("block"),
    Mode::Counted,
];

/// Why random classes could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RandomError {
    /// A file could not be written or read.
    #[error("random classes: {0}")]
    Io(#[from] std::io::Error),
    /// A process did not end or not start.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The report of the counters cannot be used.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The plain run fails: the generator is wrong, not Veneer.
    #[error("the plain run of seeds {seeds} fails: {output}")]
    Plain {
        /// First and last.
        seeds: String,
        /// What the JVM said.
        output: String,
    },
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Lines of output that differ from the plain run's, or counts that differ from the program's own.
    pub differences: Vec<String>,
    /// The seeds of the classes that they are about.
    pub seeds: BTreeSet<u64>,
    /// Blocks whose count was compared.
    pub compared: usize,
    /// Blocks that were passed and have no counter, since they cannot have one.
    pub uncounted: usize,
    /// Rounds that the runner made.
    pub rounds: u64,
    /// What the plan of a storm made.
    pub patches: u64,
}

/// The runner, compiled by a JDK.
pub struct Runner {
    jdk: Jdk,
    classes: Folder,
}

/// Some classes in a folder, with what the plain run printed.
pub struct Batch<'r> {
    runner: &'r Runner,
    folder: Folder,
    seeds: String,
    plain: String,
    /// Rows of the form `class block count`.
    counts: String,
}

impl Runner {
    /// Compiles it.
    pub fn new(jdk: Jdk) -> Result<Self, RandomError> {
        let classes = Folder::new("random")?;
        let sources = files(&workspace().join("tests/java/random"), "java")?;
        jdk.compile(&sources, classes.path())?;
        Ok(Self { jdk, classes })
    }

    /// The JDK that it runs on.
    pub fn jdk(&self) -> &Jdk {
        &self.jdk
    }

    /// Writes classes and runs them without Veneer.
    pub fn batch(&self, classes: &[RandomClass]) -> Result<Batch<'_>, RandomError> {
        let folder = Folder::new("random")?;
        std::fs::create_dir_all(folder.join("r"))?;
        let mut list = String::new();
        for class in classes {
            let name = class.name();
            std::fs::write(
                folder.join(&format!("{}.class", name.replace('.', "/"))),
                class.bytes(),
            )?;
            list += &name;
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
                // An activation in a version takes two frames, so the depth at which a stack is full is another one.
                "-Xss16m",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+BytecodeVerificationRemote",
                // Otherwise compiled code throws exceptions without a trace after a while, whoever compiles it.
                "-XX:-OmitStackTraceInFastThrow",
                "-cp",
            ])
            .arg(path)
            .arg("base.Runner")
            .arg(self.folder.join("list"))
            .arg(self.folder.join("blocks"))
            .arg(millis.to_string())
            // Much more than it takes, for machines that have other things to do.
            .limit(Duration::from_secs(900))
    }

    /// What `veneer run` is given for a mode, and the process that runs.
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

    /// The command line of a mode, for whoever wants to see it himself.
    pub fn command_line(&self, mode: Mode) -> String {
        self.process(mode)
            .map_or_else(|error| error.to_string(), |process| process.to_string())
    }

    /// Keeps the files of this batch.
    pub fn keep(&self, at: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(at.join("r"))?;
        for entry in std::fs::read_dir(self.folder.join("r"))?.flatten() {
            std::fs::copy(entry.path(), at.join("r").join(entry.file_name()))?;
        }
        std::fs::copy(self.folder.join("list"), at.join("list"))?;
        Ok(())
    }

    /// Methods that were called, each with all its arguments.
    pub fn methods(&self) -> usize {
        self.plain.lines().count()
    }

    /// Runs the classes in a mode and compares.
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

    /// The lines that are not the same.
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
        // The storm's own words about refusals, and the runner's last line, are all that may be said.
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

    /// Veneer's counts against the program's: the first row of a block has its line, 16 times its number.
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

/// The seed in a class's name in a line.
fn seed_of(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("r.C")?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Makes a class smaller as long as it still differs in this mode: items of methods are emptied, the last first.
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
