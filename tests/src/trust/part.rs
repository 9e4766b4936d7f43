//! A part of the evidence: what was run, its figures, and what failed.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::jdk::Jdk;

/// How much is run.
#[derive(Clone, Debug)]
pub struct Scope {
    /// A sample that takes about a minute instead of everything.
    pub quick: bool,
    /// On these JDKs, oldest first.
    pub jdks: Vec<Jdk>,
    /// So many JVMs at once.
    pub workers: usize,
}

/// Why a part could not be run at all. What it finds goes into [`Part::failures`].
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error(transparent)]
    Jar(#[from] crate::jars::JarError),
    #[error(transparent)]
    Process(#[from] crate::process::ProcessError),
    #[error("{0}")]
    Other(String),
}

impl From<std::io::Error> for TrustError {
    fn from(error: std::io::Error) -> Self {
        Self::Other(error.to_string())
    }
}

impl From<serde_json::Error> for TrustError {
    fn from(error: serde_json::Error) -> Self {
        Self::Other(error.to_string())
    }
}

/// What a part found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    /// The name on the command line and of its file.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// Paragraphs before the tables.
    pub words: Vec<String>,
    /// Its figures.
    pub tables: Vec<Table>,
    /// What must not be; none, where the part passes.
    pub failures: Vec<String>,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The sources that it was run with.
    #[serde(default)]
    pub sources: String,
}

impl Part {
    /// An empty part.
    pub fn new(name: &str, title: &str) -> Self {
        Self {
            name: name.to_string(),
            title: title.to_string(),
            ..Self::default()
        }
    }

    /// Notes how long it took.
    pub fn since(mut self, start: Instant) -> Self {
        self.seconds = start.elapsed().as_secs_f64();
        self
    }
}

/// A table of figures, as text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Table {
    /// What it shows; may be empty.
    pub title: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(title: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_string(),
            columns: columns.iter().map(|c| (*c).to_string()).collect(),
            rows: Vec::new(),
        }
    }
}
