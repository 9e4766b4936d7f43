//! A trace directory.

use std::fs;
use std::path::{Path, PathBuf};

use super::findings::Findings;
use super::name_table::Names;
use super::thread_trace::ThreadTrace;
use crate::error::TraceError;
use crate::format::{EVENTS_PREFIX, EVENTS_SUFFIX};

/// The events file of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceThread {
    /// The number of the thread in the trace.
    pub number: u32,
    /// The events file.
    pub path: PathBuf,
}

/// A trace: its names and its threads. Opening it reads no events.
#[derive(Debug)]
pub struct Trace {
    /// The directory of the trace.
    pub directory: PathBuf,
    /// The names of everything that events refer to.
    pub names: Names,
    /// The threads that have events, by number.
    pub threads: Vec<TraceThread>,
}

impl Trace {
    /// Opens a trace directory.
    ///
    /// # Errors
    /// `NotATrace` if the directory has no valid names file, `FutureTrace` if a later version
    /// wrote it, `TraceIo` if it cannot be read.
    pub fn open(directory: &Path) -> Result<Trace, TraceError> {
        let names = Names::read(directory)?;
        let entries = fs::read_dir(directory).map_err(|e| TraceError::io(directory, e))?;
        let mut threads = Vec::new();
        for entry in entries {
            let path = entry.map_err(|e| TraceError::io(directory, e))?.path();
            let name = path.file_name().map(|name| name.to_string_lossy());
            let number = name.as_deref().and_then(|name| {
                let number = name.strip_prefix(EVENTS_PREFIX)?;
                number.strip_suffix(EVENTS_SUFFIX)?.parse().ok()
            });
            if let Some(number) = number {
                threads.push(TraceThread { number, path });
            }
        }
        threads.sort_by_key(|thread| thread.number);
        Ok(Trace {
            directory: directory.to_path_buf(),
            names,
            threads,
        })
    }

    /// Opens the events of a thread. The first time, this builds its index.
    ///
    /// # Errors
    /// `NoTraceThread` if the thread has no events, and those of [`ThreadTrace::open`].
    pub fn thread(&self, number: u32) -> Result<ThreadTrace, TraceError> {
        let thread = self.threads.iter().find(|thread| thread.number == number);
        let thread = thread.ok_or(TraceError::NoThread(number))?;
        ThreadTrace::open(&self.directory, &thread.path, number, &self.names)
    }

    /// Opens the events of all threads.
    pub fn all_threads(&self) -> Result<Vec<ThreadTrace>, TraceError> {
        let numbers = self.threads.iter().map(|thread| thread.number);
        numbers.map(|number| self.thread(number)).collect()
    }

    /// The observations about the given threads and the names file.
    pub fn findings(&self, threads: &[ThreadTrace]) -> Findings {
        let mut findings = Findings {
            damaged_names: self.names.damaged_lines,
            ..Findings::default()
        };
        for thread in threads {
            findings.add(&thread.index.findings);
        }
        findings
    }
}
