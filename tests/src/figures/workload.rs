//! The programs that are measured, and the modes in which they run.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::folder::{files, workspace};
use crate::generator::generate;
use crate::jdk::Jdk;
use crate::process::{Process, ProcessError};

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Without Veneer.
    Plain,
    /// Armed, no plan.
    Armed,
    /// A counter on each basic block of the program's usual pattern.
    Counters,
    /// The same counters at the start, taken off after a third.
    Detached,
    /// A counter on each basic block of all that is armed, where that is more.
    CountersOnAll,
    /// The same, taken off after a third.
    AllDetached,
}

impl Mode {
    /// Those that every workload has.
    pub const USUAL: [Self; 4] = [Self::Plain, Self::Armed, Self::Counters, Self::Detached];
    /// Those of a workload of which only a part is counted otherwise.
    pub const WIDE: [Self; 2] = [Self::CountersOnAll, Self::AllDetached];

    /// What the ratio must not be above; `None` where there is no goal.
    pub fn goal(self) -> Option<f64> {
        match self {
            Self::Armed | Self::Detached | Self::AllDetached => Some(1.05),
            _ => None,
        }
    }

    /// The mode whose counters it has for a third of its rounds.
    pub fn begins_as(self) -> Option<Self> {
        match self {
            Self::Detached => Some(Self::Counters),
            Self::AllDetached => Some(Self::CountersOnAll),
            _ => None,
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Armed => "armed",
            Self::Counters => "counters",
            Self::Detached => "detached",
            Self::CountersOnAll => "counters on all",
            Self::AllDetached => "all detached",
        })
    }
}

/// A program that does the same work again and again and says `round N ms` on standard error.
#[derive(Clone, Debug)]
pub struct Workload {
    /// `route`, `javac`.
    pub name: &'static str,
    /// What `--arm` gets; `None` for what is armed without it.
    arm: Option<&'static str>,
    /// What is counted.
    counted: &'static str,
    /// What is counted in the wide modes.
    pub all: Option<&'static str>,
    sources: &'static str,
    main: &'static str,
    arguments: Vec<String>,
    /// Rounds in a run.
    pub rounds: usize,
}

/// What every JVM gets: a heap whose size does not change, and the collector with the fewest threads.
pub const OPTIONS: [&str; 3] = ["-Xms1g", "-Xmx1g", "-XX:+UseSerialGC"];

/// Source files of the tree that `javac` compiles.
const TREE: usize = 40;

impl Workload {
    /// The route finder of `tests/java/route`.
    pub fn route(quick: bool) -> Self {
        Self {
            name: "route",
            arm: None,
            counted: "route..*::*(..)",
            all: None,
            sources: "tests/java/route",
            main: "route.Main",
            arguments: vec!["500".into()],
            rounds: if quick { 9 } else { 12 },
        }
    }

    /// The compiler of the JDK over a generated tree; writes the tree into a folder.
    pub fn javac(quick: bool, tree: &Path) -> io::Result<Self> {
        generate(TREE, tree)?;
        Ok(Self {
            name: "javac",
            arm: Some("com.sun.tools.javac..*"),
            counted: "com.sun.tools.javac.parser..*::*(..)",
            all: Some("com.sun.tools.javac..*::*(..)"),
            sources: "tests/java/javacloop",
            main: "JavacLoop",
            arguments: vec![tree.to_string_lossy().into_owned()],
            rounds: if quick { 39 } else { 75 },
        })
    }

    /// Compiles the program into a folder.
    pub fn compile(&self, jdk: &Jdk, into: &Path) -> Result<(), ProcessError> {
        let sources: Vec<PathBuf> =
            files(&workspace().join(self.sources), "java").map_err(|cause| {
                ProcessError::Failed {
                    program: self.sources.into(),
                    cause,
                }
            })?;
        jdk.compile(&sources, into)
    }

    /// The plain command.
    pub fn command(&self, jdk: &Jdk, classes: &Path) -> Process {
        Process::new(jdk.tool("java"))
            .args(OPTIONS)
            .arg("-cp")
            .arg(classes)
            .arg(self.main)
            .args(&self.arguments)
            .arg(self.rounds.to_string())
            .args((self.name == "route").then_some("--time"))
    }

    /// What `veneer run` gets before the plan.
    pub fn options(&self) -> Vec<&'static str> {
        self.arm.map_or(Vec::new(), |arm| vec!["--arm", arm])
    }

    /// The plan of a mode that has one. `share`: the hits of a third of the rounds, after which the counters leave in a mode in
    /// which they do. Progress and not time decides: a time taken from another run may come too late in this one.
    pub fn plan(&self, mode: Mode, share: u64) -> Option<String> {
        let pattern = match mode {
            Mode::Plain | Mode::Armed => return None,
            Mode::Counters | Mode::Detached => self.counted,
            Mode::CountersOnAll | Mode::AllDetached => self.all?,
        };
        let leave = if mode.begins_as().is_some() {
            format!(
                "let watch = ();\n\
                 watch = every(0.05, || if hits.hits() >= {share} {{\n    \
                     watch.cancel();\n    hits.detach();\n    print(\"{LEFT}\");\n}});\n"
            )
        } else {
            String::new()
        };
        Some(format!(
            "let hits = methods(\"{pattern}\").limit(10000000).blocks().before(counter());\n{leave}\
             at_exit(|| print(`{HITS}${{hits.hits()}}`));\n"
        ))
    }
}

/// What a plan prints when its counters have left.
pub const LEFT: &str = "the counters have left";
/// What stands before the number of hits.
pub const HITS: &str = "hits: ";
