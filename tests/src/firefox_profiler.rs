//! The Firefox Profiler's own command, which reads a profile and answers questions about it.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::downloads::{Download, DownloadError, node, npm};
use crate::folder::Folder;
use crate::process::{Output, Process, ProcessError};

/// Time limit of reading a profile. On a busy machine, `load` gives up before its background process has
/// read the file.
const LOAD_LIMIT: Duration = Duration::from_secs(60);

/// A session of the command. Its background process ends with this value.
pub struct FirefoxProfiler {
    command: Process,
    _sessions: Folder,
}

impl FirefoxProfiler {
    /// A session without a profile.
    ///
    /// # Errors
    /// The command cannot be fetched. The inner error names the tool that this needs.
    pub fn new() -> Download<FirefoxProfiler> {
        let (node, cli) = match (node()?, npm("@firefox-devtools/profiler-cli")?) {
            (Ok(node), Ok(cli)) => (node, cli),
            (Err(tool), _) | (_, Err(tool)) => return Ok(Err(tool)),
        };
        let sessions = Folder::new("profiler").map_err(|source| DownloadError::File {
            path: PathBuf::from("the folder of sessions"),
            source,
        })?;
        let command = Process::new(node.display().to_string())
            .arg(cli.join("dist/profiler-cli.js"))
            .env(
                "PROFILER_CLI_SESSION_DIR",
                &sessions.path().display().to_string(),
            )
            .env("PROFILER_CLI_NO_SYMBOLICATE", "1");
        Ok(Ok(FirefoxProfiler {
            command,
            _sessions: sessions,
        }))
    }

    fn run(&self, words: &[&str]) -> Result<Output, ProcessError> {
        let session = ["--session", "veneer"];
        self.command.clone().args(words).args(session).run()
    }

    fn json(&self, words: &[&str]) -> Result<Value, Box<dyn Error>> {
        let output = self.run(&[words, &["--json"]].concat())?;
        let output = output.succeeded("the Firefox Profiler")?;
        Ok(serde_json::from_str(&output.out)?)
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// The profiler does not accept the file.
    pub fn load(&self, profile: &Path) -> Result<(), Box<dyn Error>> {
        let loaded = self.run(&["load", &profile.display().to_string()])?;
        let end = Instant::now() + LOAD_LIMIT;
        while let Err(error) = self.json(&["thread", "list"]) {
            if Instant::now() > end {
                return Err(format!("{error}; load: {}{}", loaded.out, loaded.err).into());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// The handle and the name of each thread.
    ///
    /// # Errors
    /// The profiler does not answer.
    pub fn threads(&self) -> Result<Vec<(String, String)>, Box<dyn Error>> {
        let list = self.json(&["thread", "list"])?;
        let threads = list["threads"].as_array().ok_or("no threads")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(threads
            .iter()
            .map(|one| (text(&one["threadHandle"]), text(&one["name"])))
            .collect())
    }

    /// The functions of a thread with a self time, in milliseconds.
    ///
    /// # Errors
    /// The profiler does not answer, or the weights are no times.
    pub fn self_times(&self, thread: &str) -> Result<BTreeMap<String, f64>, Box<dyn Error>> {
        let all = ["thread", "functions", "--limit", "0", "--thread", thread];
        let shown = self.json(&all)?;
        if shown["weightType"] != "tracing-ms" {
            return Err(format!("the weights are {}", shown["weightType"]).into());
        }
        let functions = shown["functions"].as_array().ok_or("no functions")?;
        let functions = functions.iter().map(|one| {
            let name = one["name"].as_str().unwrap_or_default().to_owned();
            (name, one["selfSamples"].as_f64().unwrap_or(f64::NAN))
        });
        Ok(functions.filter(|(_, weight)| *weight != 0.0).collect())
    }

    /// The number of events of each name in a thread.
    ///
    /// # Errors
    /// The profiler does not answer.
    pub fn events(&self, thread: &str) -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
        let shown = self.json(&["thread", "markers", "--limit", "0", "--thread", thread])?;
        let kinds = shown["byType"]
            .as_array()
            .ok_or_else(|| shown.to_string())?;
        let kinds = kinds.iter().map(|one| {
            let name = one["markerName"].as_str().unwrap_or_default().to_owned();
            (name, one["count"].as_u64().unwrap_or_default())
        });
        Ok(kinds.collect())
    }
}

impl Drop for FirefoxProfiler {
    fn drop(&mut self) {
        // A profiler that did not start cannot be stopped.
        let _ = self.command.clone().args(["stop", "veneer"]).run();
    }
}
