//! The method timing and the method tracing of Flight Recorder, which exist from JDK 25 on.

use super::recorded::RecordedBytes;
use super::timing::Timing;
use crate::bench::groups::{CheckError, Variant};
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::TrustError;

pub const NAME: &str = "JFR, method timing";
const TRACE_NAME: &str = "JFR, method tracing";

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

/// The variant that records the hot call, without stack traces.
pub fn tracer(timing: &Timing) -> (Variant, RecordedBytes) {
    let (file, settings) = (
        timing.compiled.join("tracing.jfr"),
        timing.compiled.join("tracing.jfc"),
    );
    let process = || -> Result<Process, TrustError> {
        if timing.jdk.major() < MIN_JDK {
            return Err(TrustError::OnlyFrom(MIN_JDK));
        }
        std::fs::write(&settings, TRACE_SETTINGS)?;
        let option = format!(
            "-XX:StartFlightRecording:settings={},filename={}",
            settings.display(),
            file.display()
        );
        Ok(timing.java(&[option], &[]))
    };
    let variant = timing.variant(TRACE_NAME, process());
    let recorded = RecordedBytes::default();
    let (bytes, jfr, calls) = (recorded.clone(), timing.jdk.tool("jfr"), timing.calls);
    let variant = variant.checked(move |_| {
        let length = std::fs::metadata(&file).map_err(|reason| CheckError::Unreadable {
            path: file.clone(),
            reason,
        })?;
        bytes.set(length.len());
        // The summary has the number of events of each type.
        let summary = Process::new(&jfr).arg("summary").arg(&file).run()?.out;
        let _ = std::fs::remove_file(&file);
        let seen = summary.lines().find_map(|line| {
            let rest = line.trim().strip_prefix("jdk.MethodTrace ")?;
            rest.split_whitespace().next()?.parse().ok()
        });
        match seen.unwrap_or(0u64) {
            seen if seen == calls => Ok(()),
            seen => Err(CheckError::MissedCalls { seen, calls }),
        }
    });
    (variant, recorded)
}

/// The settings of the recording: nothing but the calls of the method.
const TRACE_SETTINGS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.MethodTrace">
    <setting name="enabled">true</setting>
    <setting name="threshold">0 ms</setting>
    <setting name="stackTrace">false</setting>
    <setting name="filter">HotCall::step</setting>
  </event>
</configuration>
"#;

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
