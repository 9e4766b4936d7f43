//! A part of the evidence: what was run, its figures, and its failures.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::jdk::Jdk;

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
