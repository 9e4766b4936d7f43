//! `veneer run --search OUT.json`: searches the first JVM of a command, from its start to its end.
//!
//! ```text
//!   main thread     start COMMAND ─────────── wait for its end ───────────── stop, print, write OUT.json
//!   search thread        └─ first JVM? ─ first dump ─ windows of samples … ─────┘
//! ```
//!
//! The search uses the attach protocol only, so the command runs as without Veneer. All messages are
//! written after the command's end.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use veneer_client::Target;
use veneer_client::attach::JvmAttachError;
use veneer_client::attach_command::AttachCommandError;
use veneer_search::Search;
use veneer_search::observation::Observation;
use veneer_search::sentence;

use super::driver::{Driver, SearchLength, take_first_dump};
use super::first_jvm::first_jvm;
use super::graph_file::{LiveGraph, write_graph};
use super::progress::Progress;
use super::recorder::Recorder;
use super::{live_settings, settings, write_text};
use crate::cli::SearchOptions;
use crate::disk_check::ReportFile;
use crate::output::{describe, print_error};

/// The interval between two attempts to reach a JVM that is starting.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// A search that begins when a command starts.
pub struct RunSearch {
    result: ReportFile,
    options: SearchOptions,
    search: Search,
    recorder: Option<Recorder>,
}

/// The end of a search, and whether its record is complete.
type Searched = (Search, Result<()>);

/// A search of a command that runs.
pub struct RunningSearch {
    result: ReportFile,
    options: SearchOptions,
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<Searched>,
}

impl RunSearch {
    /// Checks the options and all files before the command starts.
    pub fn prepare(result: &Path, options: &SearchOptions) -> Result<RunSearch> {
        let settings = settings(options, live_settings());
        let result = ReportFile::check(result, "--search")?;
        let recorder = options.record.as_deref();
        Ok(RunSearch {
            recorder: recorder
                .map(|path| Recorder::create(path, &settings))
                .transpose()?,
            search: Search::new(settings)?,
            result,
            options: options.clone(),
        })
    }

    /// Begins to search for the first JVM of the process that the command runs in.
    pub fn begin(self, pid: u32) -> RunningSearch {
        let stopped = Arc::new(AtomicBool::new(false));
        let (is_stopped, threads) = (stopped.clone(), self.options.threads.clone());
        let progress = Progress::hidden(LiveGraph::new(self.options.graph.as_deref()));
        let (search, recorder) = (self.search, self.recorder);
        RunningSearch {
            result: self.result,
            options: self.options,
            stopped,
            thread: thread::spawn(move || {
                run(pid, search, recorder, threads, &is_stopped, progress)
            }),
        }
    }
}

impl RunningSearch {
    /// Ends the search after the command's end: prints the sentences to standard error, and writes
    /// the files.
    pub fn finish(self) -> Result<()> {
        self.stopped.store(true, Ordering::Relaxed);
        let Ok((search, recorded)) = self.thread.join() else {
            anyhow::bail!("the search failed; its result was not written");
        };
        // If standard error is closed, the result is still written.
        let _ = write_text(&mut io::stderr().lock(), &search);
        let json = sentence::json(&search.outcome())?;
        let path = self.result.truncate()?;
        fs::write(&path, json + "\n")
            .with_context(|| format!("{} cannot be written", path.display()))?;
        if let Some(file) = &self.options.graph {
            write_graph(file, &search)?;
        }
        recorded
    }
}

/// Finishes a search, and prints what went wrong. The exit code is that of the command in any case.
pub fn finish_and_report(search: RunningSearch) {
    if let Err(error) = search.finish() {
        print_error(&describe(&error));
    }
}

fn run(
    pid: u32,
    mut search: Search,
    mut recorder: Option<Recorder>,
    threads: Option<String>,
    stopped: &AtomicBool,
    mut progress: Progress,
) -> Searched {
    match reach_first_jvm(pid, stopped) {
        Ok(target) => {
            let mut driver = Driver::begin(target, search, recorder, threads);
            driver.drive(SearchLength::UntilJvmEnds, stopped, &mut progress);
            driver.finish()
        }
        Err(reason) => {
            let ended = Observation::Ended {
                reason: reason.to_string(),
            };
            if let Some(recorder) = &mut recorder {
                recorder.write(&ended);
            }
            search.observe(ended);
            let recorded = recorder.map_or(Ok(()), Recorder::finish);
            (search, recorded)
        }
    }
}

/// Why no JVM of a command was searched.
#[derive(Debug, thiserror::Error)]
enum Unreached {
    #[error("the command ended, and none of its processes was a JVM for long enough to be found")]
    NoJvm,
    #[error("the JVM ended before it answered{0}")]
    Short(String),
    #[error(transparent)]
    Target(#[from] veneer_client::TargetError),
    #[error(transparent)]
    Command(#[from] AttachCommandError),
}

/// Waits for the first JVM of a command, and until it answers.
fn reach_first_jvm(pid: u32, stopped: &AtomicBool) -> Result<Target, Unreached> {
    let target = first_jvm(pid, stopped).ok_or(Unreached::NoJvm)??;
    loop {
        match take_first_dump(&target) {
            Ok(()) => return Ok(target),
            Err(error) if !target.is_alive() => return Err(Unreached::Short(cause(&error))),
            // The JVM installs its handler some time after its start.
            Err(AttachCommandError::Attach(JvmAttachError::NoHandler(_)))
                if !stopped.load(Ordering::Relaxed) =>
            {
                thread::sleep(RETRY_INTERVAL);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns why a JVM that has ended did not answer before, if the reason is not that it ended.
fn cause(error: &AttachCommandError) -> String {
    match error {
        AttachCommandError::Attach(JvmAttachError::Target(_)) => String::new(),
        other => format!(" ({other})"),
    }
}
