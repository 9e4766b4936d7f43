//! The machine on which the figures were made.

use crate::command;
use crate::process::{Process, ProcessError};

/// The machine, the date and the version of the command.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Model name from `/proc/cpuinfo`, or `unknown` if there is none, as on aarch64.
    pub cpu: String,
    /// Number of processors that this process may use.
    pub cores: usize,
    /// Name, release and architecture of the kernel.
    pub kernel: String,
    /// The date in UTC, for example `2026-11-21`.
    pub date: String,
    /// The output of `veneer --version`.
    pub veneer: String,
    /// Load averages over 1, 5 and 15 minutes before the first run.
    pub load: String,
}

impl Machine {
    /// Collects these facts about this machine.
    pub fn here() -> Result<Self, ProcessError> {
        let cpuinfo = read("/proc/cpuinfo");
        // There is no model name on aarch64. The kernel's line shows the architecture.
        let model = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let load = read("/proc/loadavg");
        Ok(Self {
            cpu: model.map_or("unknown", |(_, name)| name).to_string(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: line(Process::new("uname").arg("-srm"))?,
            date: line(Process::new("date").args(["-u", "+%Y-%m-%d"]))?,
            veneer: line(command::veneer().arg("--version"))?,
            load: load.split(' ').take(3).collect::<Vec<_>>().join(" "),
        })
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn line(process: Process) -> Result<String, ProcessError> {
    let what = process.to_string();
    Ok(process.run()?.succeeded(&what)?.out.trim().to_string())
}
