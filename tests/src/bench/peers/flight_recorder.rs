//! The method timing of Flight Recorder, which exists from JDK 25 on.

use super::timing::Timing;
use crate::bench::groups::{CheckError, Variant};
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::TrustError;

pub const NAME: &str = "JFR, method timing";

/// The first JDK with method timing.
pub const MIN_JDK: u32 = 25;

/// The variant that times the hot call.
pub fn timer(timing: &Timing) -> Variant {
    let file = timing.compiled.join("timing.jfr");
    let process = if timing.jdk.major() < MIN_JDK {
        Err(TrustError::OnlyFrom(MIN_JDK))
    } else {
        let option = format!(
            "-XX:StartFlightRecording:method-timing=HotCall::step,filename={}",
            file.display()
        );
        Ok(timing.java(&[option], &[]))
    };
    let (jfr, calls) = (timing.jdk.tool("jfr"), timing.calls);
    timing.variant(NAME, process).checked(move |_| {
        let print = Process::new(&jfr)
            .args(["print", "--events", "jdk.MethodTiming"])
            .arg(&file);
        let said = print.run()?.out;
        let _ = std::fs::remove_file(&file);
        let seen = said
            .lines()
            .filter_map(|line| line.trim().strip_prefix("invocations = ")?.parse().ok())
            .max()
            .unwrap_or(0u64);
        if seen == calls {
            Ok(())
        } else {
            Err(CheckError::MissedCalls { seen, calls })
        }
    })
}

/// Starts a recording with method timing in a running JVM, and returns the output of `jcmd`.
pub fn start(jdk: &Jdk, pid: u32, name: &str, filter: &str) -> Result<String, TrustError> {
    jcmd(
        jdk,
        pid,
        &[
            "JFR.start",
            &format!("name={name}"),
            &format!("method-timing={filter}"),
        ],
    )
}

/// Stops a recording and discards it.
pub fn stop(jdk: &Jdk, pid: u32, name: &str) -> Result<String, TrustError> {
    jcmd(jdk, pid, &["JFR.stop", &format!("name={name}")])
}

fn jcmd(jdk: &Jdk, pid: u32, command: &[&str]) -> Result<String, TrustError> {
    let output = Process::new(jdk.tool("jcmd"))
        .arg(pid.to_string())
        .args(command)
        .run()?;
    Ok(output.succeeded("jcmd")?.out)
}
