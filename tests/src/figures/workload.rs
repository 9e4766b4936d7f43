//! The measured programs, and the modes in which they run.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::folder::{files, workspace};
use crate::generator::generate;
use crate::jdk::Jdk;
use crate::process::{Process, ProcessError};

/// The mode in which a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The program runs without Veneer.
    Plain,
    /// With all classes armed and no plan.
    Armed,
    /// A counter on each basic block of the methods that the workload usually counts.
    Counters,
    /// The counters of `Counters`, attached at the start and detached after a third of the rounds.
    Detached,
    /// A counter on each basic block of all armed methods, if these are more than the usual ones.
    CountersOnAll,
    /// The counters of `CountersOnAll`, detached after a third of the rounds.
    AllDetached,
}

impl Mode {
    /// The modes of every workload.
    pub const USUAL: [Self; 4] = [Self::Plain, Self::Armed, Self::Counters, Self::Detached];
    /// The additional modes of a workload whose usual pattern selects only a part of the armed
    /// methods.
    pub const WIDE: [Self; 2] = [Self::CountersOnAll, Self::AllDetached];

    /// The upper limit of the ratio, or `None` if the mode has no goal.
    pub fn goal(self) -> Option<f64> {
        match self {
            Self::Armed | Self::Detached | Self::AllDetached => Some(1.05),
            _ => None,
        }
    }

    /// The mode whose counters are attached during the first third of the rounds.
    pub fn initial_mode(self) -> Option<Self> {
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

/// A program that repeats the same work and prints `round N ms` on standard error.
#[derive(Clone, Debug)]
pub struct Workload {
    /// `route` or `javac`.
    pub name: &'static str,
    /// The argument of `--arm`, or `None` if the option is not needed.
    arm: Option<&'static str>,
    /// The pattern of the counted methods.
    counted: &'static str,
    /// The pattern of the methods that are counted in the wide modes.
    pub all: Option<&'static str>,
    sources: &'static str,
    main: &'static str,
    arguments: Vec<String>,
    /// Number of rounds in a run.
    pub rounds: usize,
}

/// Options of every JVM: a heap of constant size, and the collector with the fewest threads.
pub const OPTIONS: [&str; 3] = ["-Xms1g", "-Xmx1g", "-XX:+UseSerialGC"];

/// Number of source files in the tree that `javac` compiles.
const TREE_CLASSES: usize = 40;

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

    /// The compiler of the JDK on a generated source tree, which this function writes into a
    /// folder.
    pub fn javac(quick: bool, tree: &Path) -> io::Result<Self> {
        generate(TREE_CLASSES, tree)?;
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

    /// The command without Veneer.
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

    /// The options of `veneer run` before the plan.
    pub fn options(&self) -> Vec<&'static str> {
        self.arm.map_or(Vec::new(), |arm| vec!["--arm", arm])
    }

    /// Returns the plan of a mode, or `None` if the mode has none. `share` is the number of hits of
    /// a third of the rounds. In the modes that detach their counters, the plan detaches them at
    /// `share` hits. The plan does not use a time, because a time measured in another run may be
    /// too late in this one.
    pub fn plan(&self, mode: Mode, share: u64) -> Option<String> {
        let pattern = match mode {
            Mode::Plain | Mode::Armed => return None,
            Mode::Counters | Mode::Detached => self.counted,
            Mode::CountersOnAll | Mode::AllDetached => self.all?,
        };
        let leave = if mode.initial_mode().is_some() {
            format!(
                "let watch = ();\n\
                 watch = every(0.05, || if hits.hits() >= {share} {{\n    \
                     watch.cancel();\n    hits.detach();\n    print(\"{DETACHED_LINE}\");\n}});\n"
            )
        } else {
            String::new()
        };
        Some(format!(
            "let hits = methods(\"{pattern}\").limit(10000000).blocks().before(counter());\n{leave}\
             at_exit(|| print(`{HITS_PREFIX}${{hits.hits()}}`));\n"
        ))
    }
}

/// The line that a plan prints after it has detached its counters.
pub const DETACHED_LINE: &str = "the counters have left";
/// The text before the number of hits.
pub const HITS_PREFIX: &str = "hits: ";
