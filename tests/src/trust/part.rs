//! A part of the evidence: what was run, its figures, and its failures.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::bench::first::FirstResultError;
use crate::jdk::{CompileError, Jdk};
use crate::live::LiveError;
use crate::process::ProcessError;
use crate::random::run::RandomError;
use crate::report::ReportError;

/// The amount of work of a run.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Run a sample that takes about a minute, instead of everything.
    pub quick: bool,
    /// The JDKs to use, oldest first.
    pub jdks: Vec<Jdk>,
    /// Number of JVMs that run at the same time.
    pub workers: usize,
}

/// The reason why a part could not be run at all. The findings of a part are in [`Part::failures`].
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error(transparent)]
    Jar(#[from] crate::jars::JarError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The conversation with a program failed.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// As for `Live`, with the name of the run.
    #[error("{run}: {source}")]
    LiveRun { run: String, source: LiveError },
    /// A program printed no first result.
    #[error(transparent)]
    FirstResult(#[from] FirstResultError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    File(#[from] std::io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A file name has the character that separates paths.
    #[error(transparent)]
    Paths(#[from] std::env::JoinPathsError),
    /// A scenario in the browser, or a recording, failed.
    #[error("{what}: {reason}")]
    Failed { what: &'static str, reason: String },
    #[error("no JDK from 17 on: set VENEER_JDKS")]
    NoJdk,
    /// Only later JDKs have the tool.
    #[error("not in JDKs before {0}")]
    OnlyFrom(u32),
    /// A name in a list of this package has no entry.
    #[error("no {kind} {name}")]
    Unknown {
        kind: &'static str,
        name: &'static str,
    },
    /// A program or tool did not print an item that it prints otherwise.
    #[error("no {wanted}: {found}")]
    Missing { wanted: &'static str, found: String },
    /// A program ended with an exit code that means no result.
    #[error("{program} ended with {code}: {output}")]
    ExitCode {
        program: String,
        code: i32,
        output: String,
    },
    /// A process did not end. The output has a dump of its threads, if one could be made.
    #[error("no end after {seconds} s\n{output}\nto repeat: {process}")]
    Late {
        seconds: u64,
        output: String,
        process: String,
    },
    /// The program without Veneer does not print what it should.
    #[error("plain it ends with {code} and prints\n{output}")]
    WrongPlainRun { code: i32, output: String },
    /// The program under Veneer differs from the program without Veneer.
    #[error("{0}")]
    Differs(String),
    /// A run did too little to show anything.
    #[error("{done} {unit} only: {output}")]
    TooFew {
        done: u64,
        unit: &'static str,
        output: String,
    },
    /// Another tool has not accepted its order.
    #[error("{0}")]
    Rejected(String),
    /// The preparation of several runs has failed before.
    #[error("cannot run: {0}")]
    NotPrepared(String),
}

impl TrustError {
    /// Turns the error of a scenario into [`TrustError::Failed`].
    pub fn failed(what: &'static str) -> impl Fn(Box<dyn std::error::Error>) -> TrustError {
        move |error| TrustError::Failed {
            what,
            reason: error.to_string(),
        }
    }
}

/// The results of a part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    /// The name on the command line and of the file.
    pub name: String,
    pub title: String,
    /// Paragraphs before the tables.
    pub words: Vec<String>,
    pub tables: Vec<Table>,
    /// One line for each failure. The part passes if there are none.
    pub failures: Vec<String>,
    /// The duration of the run.
    pub seconds: f64,
    /// The commit of the sources.
    #[serde(default)]
    pub sources: String,
}

impl Part {
    pub fn new(name: &str, title: &str) -> Self {
        Self {
            name: name.to_string(),
            title: title.to_string(),
            ..Self::default()
        }
    }

    /// Sets the duration of the run.
    pub fn with_duration_since(mut self, start: Instant) -> Self {
        self.seconds = start.elapsed().as_secs_f64();
        self
    }
}

/// A table of figures, as text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Table {
    /// The caption. May be empty.
    pub title: String,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// The rows. Each has one cell for each column.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(title: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_string(),
            columns: columns.iter().map(|c| (*c).to_string()).collect(),
            rows: Vec::new(),
        }
    }
}
