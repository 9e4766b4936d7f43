//! Recordings: commands of `veneer` that measure for some seconds and leave a result. The page starts
//! them, shows their progress and reads their results.
//!
//! ```text
//!   search  veneer search PID --json --for S --graph FILE  ─▶ its standard output, and the graph
//!   calls   veneer calls PID PATTERN --for S -o FILE       ─▶ veneer calls show FILE --json
//!   trace   veneer trace PID PATTERN --for S -o DIR        ─▶ queries, and the pictures of `timelines.rs`
//!   tuning  veneer tune PID PATTERN --json --for S         ─▶ its standard output
//! ```
//!
//! If the server ends, its commands are killed, and the agents detach what they had attached.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Notify;

use super::api_error::ApiError;
use super::shell_word::shell_word;

/// The seconds that a recording may take.
const SECONDS: std::ops::RangeInclusive<f64> = 0.5..=3600.0;
/// The most recordings that are kept.
const MAX_RECORDINGS: usize = 32;
/// The most lines of progress that are kept.
const MAX_PROGRESS: usize = 50;
/// The most bytes of a result.
const MAX_RESULT_BYTES: u64 = 512 << 20;
/// The end of the name of the file with the call graph of a search. The command writes data into a file
/// of this name.
const GRAPH_EXTENSION: &str = "graph.json";
/// The events of the JVM in traces.
const TRACE_EVENTS: &str = "contended,wait,gc";
/// How long a command may go on after SIGINT before it is killed.
const END_TIME: Duration = Duration::from_secs(20);

/// The kind of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordingKind {
    /// A search for bottlenecks.
    Search,
    /// A call graph, optionally with calling contexts.
    Calls,
    /// An event trace.
    Trace,
    /// A memory profile. The page shows files only.
    Memory,
    /// Experiments with transformations, which change the program; or a list of methods to try.
    Tuning,
}

/// The wish of the page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedRecording {
    pub kind: RecordingKind,
    pub seconds: f64,
    /// The methods of a call graph or a trace.
    #[serde(default)]
    pub pattern: String,
    /// Whether a call graph has calling contexts.
    #[serde(default)]
    pub contexts: bool,
    /// Whether a tuning only lists methods.
    #[serde(default)]
    pub dry_run: bool,
}

impl RequestedRecording {
    /// Whether the recording changes how the program runs.
    pub fn changes_the_program(&self) -> bool {
        self.kind == RecordingKind::Tuning && !self.dry_run
    }
}

/// The progress of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordingState {
    Running,
    Done,
    Failed,
}

/// A recording in answers.
#[derive(Clone, Debug, Serialize)]
pub struct RecordingRow {
    pub id: String,
    pub pid: u32,
    pub kind: RecordingKind,
    /// The methods, and whether there are calling contexts, as they were asked for.
    pub pattern: String,
    pub contexts: bool,
    pub dry_run: bool,
    /// The time of the beginning in seconds since 1970.
    pub begun: u64,
    pub state: RecordingState,
    /// Seconds since the beginning, or the time that the recording took.
    pub seconds: f64,
    /// The seconds that were asked for.
    pub wanted: f64,
    /// Lines of standard error, the oldest first.
    pub progress: Vec<String>,
    /// The command that does the same.
    pub command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ApiError>,
}

/// All recordings of the server.
#[derive(Debug)]
pub struct Recordings {
    folder: TempDir,
    all: Mutex<BTreeMap<u64, Arc<Recording>>>,
    last_id: AtomicU64,
}

#[derive(Debug)]
struct Recording {
    row: Mutex<RecordingRow>,
    begun: Instant,
    /// The file with the result.
    result: PathBuf,
    /// The file or directory that the command writes.
    recorded: PathBuf,
    /// Asks the command to end early.
    end: Notify,
    /// Asks for the end without a result.
    cancel: Notify,
}

impl Recordings {
    /// Makes the folder for results, which is removed with the value.
    ///
    /// # Errors
    /// The folder for temporary files cannot be written.
    pub fn new() -> io::Result<Recordings> {
        Ok(Recordings {
            folder: tempfile::Builder::new().prefix("veneer-serve-").tempdir()?,
            all: Mutex::default(),
            last_id: AtomicU64::new(0),
        })
    }

    /// Starts a recording.
    ///
    /// # Errors
    /// The request is not usable, or there are too many recordings.
    pub fn start(
        &self,
        veneer: &Path,
        pid: u32,
        request: &RequestedRecording,
    ) -> Result<RecordingRow, ApiError> {
        let number = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let recorded = self.folder.path().join(format!("r{number}"));
        let commands = Commands::for_request(pid, request, &recorded)?;
        let recording = Arc::new(Recording {
            row: Mutex::new(RecordingRow {
                id: format!("r{number}"),
                pid,
                kind: request.kind,
                pattern: request.pattern.clone(),
                contexts: request.contexts,
                dry_run: request.dry_run,
                begun: now(),
                state: RecordingState::Running,
                seconds: 0.0,
                wanted: request.seconds,
                progress: Vec::new(),
                command: commands.shown(),
                error: None,
            }),
            begun: Instant::now(),
            result: self.folder.path().join(format!("r{number}.json")),
            recorded,
            end: Notify::new(),
            cancel: Notify::new(),
        });
        {
            let mut all = self.all.lock();
            if all.len() >= MAX_RECORDINGS {
                return Err(ApiError::too_many(
                    "too many recordings are kept",
                    "remove some of them",
                ));
            }
            all.insert(number, recording.clone());
        }
        let row = recording.row();
        let veneer = veneer.to_owned();
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = recording.run(&veneer, &commands) => ended,
                () = recording.cancel.notified() => Ok(()),
            };
            recording.finish(ended);
        });
        Ok(row)
    }

    /// All recordings, the oldest first.
    pub fn rows(&self) -> Vec<RecordingRow> {
        let all: Vec<_> = self.all.lock().values().cloned().collect();
        all.iter().map(|recording| recording.row()).collect()
    }

    /// One recording.
    ///
    /// # Errors
    /// There is none of this id.
    pub fn row(&self, id: &str) -> Result<RecordingRow, ApiError> {
        Ok(self.get(id)?.row())
    }

    /// The file with the result of a recording.
    ///
    /// # Errors
    /// There is no such recording, or it has no result yet.
    pub fn result(&self, id: &str) -> Result<PathBuf, ApiError> {
        let recording = self.get(id)?;
        match recording.row().state {
            RecordingState::Done => Ok(recording.result.clone()),
            _ => Err(ApiError::unknown("result yet")),
        }
    }

    /// The file with the call graph of a search. The file is not there until the first second of the
    /// search has passed.
    ///
    /// # Errors
    /// There is no such recording, or it is no search.
    pub fn graph(&self, id: &str) -> Result<PathBuf, ApiError> {
        let recording = self.get(id)?;
        match recording.row().kind {
            RecordingKind::Search => Ok(recording.recorded.with_extension(GRAPH_EXTENSION)),
            _ => Err(ApiError::unknown("call graph in this recording")),
        }
    }

    /// The directory of a trace.
    ///
    /// # Errors
    /// There is no such recording, it is no trace, or it has not ended.
    pub fn trace(&self, id: &str) -> Result<PathBuf, ApiError> {
        let recording = self.get(id)?;
        let row = recording.row();
        match (row.kind, row.state) {
            (RecordingKind::Trace, RecordingState::Done) => Ok(recording.recorded.clone()),
            _ => Err(ApiError::unknown("trace in this recording")),
        }
    }

    /// Asks a recording to end early and keep what it has.
    ///
    /// # Errors
    /// There is none of this id.
    pub fn end(&self, id: &str) -> Result<(), ApiError> {
        self.get(id)?.end.notify_one();
        Ok(())
    }

    /// Removes a recording; a running one is killed.
    ///
    /// # Errors
    /// There is none of this id.
    pub fn remove(&self, id: &str) -> Result<(), ApiError> {
        let recording = self.get(id)?;
        self.all
            .lock()
            .retain(|_, other| !Arc::ptr_eq(other, &recording));
        recording.cancel.notify_one();
        // A file that is not there yet needs no removal, and the folder is removed in the end.
        let _ = std::fs::remove_file(&recording.result);
        let _ = std::fs::remove_file(&recording.recorded);
        let _ = std::fs::remove_file(recording.recorded.with_extension(GRAPH_EXTENSION));
        let _ = std::fs::remove_dir_all(&recording.recorded);
        Ok(())
    }

    /// Kills all commands.
    pub fn end_all(&self) {
        let all = std::mem::take(&mut *self.all.lock());
        all.values()
            .for_each(|recording| recording.cancel.notify_one());
    }

    fn get(&self, id: &str) -> Result<Arc<Recording>, ApiError> {
        let number = id.strip_prefix('r').and_then(|number| number.parse().ok());
        let number: Option<u64> = number;
        let recording = number.and_then(|number| self.all.lock().get(&number).cloned());
        recording.ok_or_else(|| ApiError::unknown("recording of this id"))
    }
}

impl Recording {
    fn row(&self) -> RecordingRow {
        let mut row = self.row.lock().clone();
        if row.state == RecordingState::Running {
            row.seconds = self.begun.elapsed().as_secs_f64();
        }
        row
    }

    fn finish(&self, ended: Result<(), ApiError>) {
        let mut row = self.row.lock();
        row.seconds = self.begun.elapsed().as_secs_f64();
        row.state = match ended {
            Ok(()) => RecordingState::Done,
            Err(error) => {
                row.error = Some(error);
                RecordingState::Failed
            }
        };
    }

    /// Runs the commands one after the other. The standard output of the last one is the result.
    async fn run(&self, veneer: &Path, commands: &Commands) -> Result<(), ApiError> {
        for words in &commands.words {
            let output = std::fs::File::create(&self.result).map_err(|error| no_room(&error))?;
            let child = Command::new(veneer)
                .args(words)
                .stdin(Stdio::null())
                .stdout(output)
                .stderr(Stdio::piped())
                .kill_on_drop(true)
                .spawn();
            let child = child.map_err(|error| {
                ApiError::of_text("not-started", &format!("`veneer` cannot run: {error}"))
            })?;
            self.run_one(child).await?;
        }
        let size = std::fs::metadata(&self.result).map_or(0, |file| file.len());
        if size > MAX_RESULT_BYTES {
            return Err(ApiError::of_text(
                "too-large",
                "the result is larger than 512 MiB; record fewer methods, or use the command",
            ));
        }
        Ok(())
    }

    async fn run_one(&self, mut child: Child) -> Result<(), ApiError> {
        let errors = child.stderr.take();
        let (status, ()) = tokio::join!(self.wait(&mut child), self.read_progress(errors));
        let status = status.map_err(|error| no_room(&error))?;
        // After Ctrl-C, a command that has printed its result ends with the code of the signal.
        match status.success() || status.code() == Some(130) {
            true => Ok(()),
            false => {
                let row = self.row.lock();
                let said = row.progress.last().cloned();
                let text = said.unwrap_or_else(|| format!("the command ended with {status}"));
                Err(ApiError::of_text("failed", &text))
            }
        }
    }

    /// Waits for the end of the command, and sends it SIGINT if the user wants it to end.
    async fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        tokio::select! {
            status = child.wait() => return status,
            () = self.end.notified() => {}
        }
        if let Some(pid) = child.id() {
            interrupt(pid);
        }
        match tokio::time::timeout(END_TIME, child.wait()).await {
            Ok(status) => status,
            Err(_) => {
                child.start_kill()?;
                child.wait().await
            }
        }
    }

    async fn read_progress(&self, errors: Option<tokio::process::ChildStderr>) {
        let Some(errors) = errors else {
            return;
        };
        let mut lines = BufReader::new(errors.take(16 << 20)).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let mut row = self.row.lock();
            if row.progress.len() == MAX_PROGRESS {
                row.progress.remove(0);
            }
            row.progress.push(line);
        }
    }
}

/// The time in seconds since 1970.
fn now() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    time.map_or(0, |time| time.as_secs())
}

fn no_room(error: &io::Error) -> ApiError {
    ApiError::of_text(
        "not-written",
        &format!(
            "the result cannot be written: {error}; make room in the folder for temporary files"
        ),
    )
}

/// Sends SIGINT, as Ctrl-C does.
fn interrupt(pid: u32) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // The process may have ended by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    }
}

/// The words of the commands of a recording.
#[derive(Debug, PartialEq, Eq)]
struct Commands {
    words: Vec<Vec<OsString>>,
}

impl Commands {
    fn for_request(
        pid: u32,
        request: &RequestedRecording,
        file: &Path,
    ) -> Result<Commands, ApiError> {
        if !SECONDS.contains(&request.seconds) {
            return Err(ApiError::bad_request(format!(
                "a recording takes {} to {} seconds",
                SECONDS.start(),
                SECONDS.end()
            )));
        }
        if request.pattern.starts_with('-') {
            return Err(ApiError::bad_request("a pattern begins with a name or `*`"));
        }
        let text = |word: &str| OsString::from(word);
        let (pid, seconds) = (text(&pid.to_string()), text(&request.seconds.to_string()));
        let words = match request.kind {
            RecordingKind::Search => vec![vec![
                text("search"),
                pid,
                text("--json"),
                text("--for"),
                seconds,
                text("--graph"),
                file.with_extension(GRAPH_EXTENSION).into(),
            ]],
            RecordingKind::Calls => {
                let mut record = vec![text("calls"), pid];
                if !request.pattern.is_empty() {
                    record.push(text(&request.pattern));
                }
                record.extend([text("--for"), seconds, text("-o"), file.into()]);
                if request.contexts {
                    record.push(text("--contexts"));
                }
                let show = vec![text("calls"), text("show"), file.into(), text("--json")];
                vec![record, show]
            }
            RecordingKind::Trace => {
                let mut record = vec![text("trace"), pid];
                if !request.pattern.is_empty() {
                    record.push(text(&request.pattern));
                }
                record.extend([text("--for"), seconds, text("-o"), file.into()]);
                record.extend([text("--events"), text(TRACE_EVENTS)]);
                vec![record]
            }
            RecordingKind::Tuning => {
                let mut tune = vec![text("tune"), pid];
                if !request.pattern.is_empty() {
                    tune.push(text(&request.pattern));
                }
                tune.extend([text("--json"), text("--for"), seconds]);
                if request.dry_run {
                    tune.push(text("--dry-run"));
                }
                vec![tune]
            }
            RecordingKind::Memory => {
                return Err(ApiError::bad_request(
                    "the page shows memory profiles of --data and makes none; use `veneer memory simulate -o`",
                ));
            }
        };
        Ok(Commands { words })
    }

    /// The first command as a user types it, with a file in the current folder.
    fn shown(&self) -> String {
        let words = self.words.first().map(Vec::as_slice).unwrap_or_default();
        let words = words.iter().map(|word| {
            let word = word.to_string_lossy();
            match Path::new(&*word).is_absolute() {
                true if word.ends_with(GRAPH_EXTENSION) => "out.json".to_owned(),
                true => "out".to_owned(),
                false => shell_word(&word),
            }
        });
        let words: Vec<String> = words.collect();
        format!("veneer {}", words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: RecordingKind, pattern: &str) -> RequestedRecording {
        RequestedRecording {
            kind,
            seconds: 2.5,
            pattern: pattern.into(),
            contexts: true,
            dry_run: true,
        }
    }

    #[test]
    fn a_command_is_shown_as_a_user_types_it() {
        let file = Path::new("/tmp/x/r1");
        let calls =
            Commands::for_request(7, &request(RecordingKind::Calls, "shop..*"), file).unwrap();
        assert_eq!(
            calls.shown(),
            "veneer calls 7 'shop..*' --for 2.5 -o out --contexts"
        );
        assert_eq!(calls.words.len(), 2);
        let search = Commands::for_request(7, &request(RecordingKind::Search, ""), file).unwrap();
        assert_eq!(
            search.shown(),
            "veneer search 7 --json --for 2.5 --graph out.json"
        );
        let trace = Commands::for_request(7, &request(RecordingKind::Trace, ""), file).unwrap();
        assert_eq!(
            trace.shown(),
            "veneer trace 7 --for 2.5 -o out --events contended,wait,gc"
        );
        let mut tuning = request(RecordingKind::Tuning, "a.B::m(..)");
        assert!(!tuning.changes_the_program());
        let listed = Commands::for_request(7, &tuning, file).unwrap();
        assert_eq!(
            listed.shown(),
            "veneer tune 7 'a.B::m(..)' --json --for 2.5 --dry-run"
        );
        tuning.dry_run = false;
        assert!(tuning.changes_the_program());
        assert!(Commands::for_request(7, &request(RecordingKind::Memory, ""), file).is_err());
    }

    #[test]
    fn no_pattern_becomes_an_option() {
        let file = Path::new("/tmp/x");
        for pattern in ["-o", "--unload"] {
            let refused = Commands::for_request(7, &request(RecordingKind::Calls, pattern), file);
            assert_eq!(refused.unwrap_err().code, "bad-request");
        }
        let mut endless = request(RecordingKind::Search, "");
        endless.seconds = f64::NAN;
        assert!(Commands::for_request(7, &endless, file).is_err());
    }

    #[tokio::test]
    async fn the_last_output_is_the_result_and_an_error_says_why() {
        let recordings = Recordings::new().unwrap();
        let shell = |script: &str| vec![OsString::from("-c"), script.into()];
        for (scripts, state, result) in [
            (
                vec!["echo a >&2; echo no", "echo '[]'"],
                RecordingState::Done,
                "[]\n",
            ),
            (
                vec!["echo 'no JVM; try again' >&2; exit 2"],
                RecordingState::Failed,
                "",
            ),
        ] {
            let recording = Recording {
                row: Mutex::new(RecordingRow {
                    id: "r1".into(),
                    pid: 7,
                    kind: RecordingKind::Search,
                    pattern: String::new(),
                    contexts: false,
                    dry_run: false,
                    begun: now(),
                    state: RecordingState::Running,
                    seconds: 0.0,
                    wanted: 1.0,
                    progress: Vec::new(),
                    command: String::new(),
                    error: None,
                }),
                begun: Instant::now(),
                result: recordings.folder.path().join("result"),
                recorded: recordings.folder.path().join("recorded"),
                end: Notify::new(),
                cancel: Notify::new(),
            };
            let words = scripts.iter().map(|script| shell(script)).collect();
            let ended = recording
                .run(Path::new("/bin/sh"), &Commands { words })
                .await;
            recording.finish(ended);
            let row = recording.row();
            assert_eq!(row.state, state);
            assert_eq!(std::fs::read_to_string(&recording.result).unwrap(), result);
            if let Some(error) = row.error {
                assert_eq!(
                    (error.problem.as_str(), error.remedy.as_str()),
                    ("no JVM", "try again")
                );
            }
        }
    }
}
