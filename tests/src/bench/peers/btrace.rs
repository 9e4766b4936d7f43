//! BTrace: a probe at the return of a method, which receives the duration.

use std::path::{Path, PathBuf};

use super::source::{source, written};
use super::timing::{Timing, all_calls};
use crate::bench::groups::Variant;
use crate::jars::jar;
use crate::process::Process;
use crate::trust::part::TrustError;

pub const NAME: &str = "BTrace, @Duration";

/// The packages that BTrace's agent accesses by reflection. Without these options it does not start
/// on a JDK with modules.
const OPENS: [&str; 2] = [
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.reflect=ALL-UNNAMED",
];

/// The variant with a timing probe on the hot call.
pub fn timer(timing: &Timing) -> Variant {
    variant(timing, NAME, |_| Ok(source("Timed.java")))
}

/// The name in the tables of the part `probes`.
pub const COUNTING: &str = "BTrace";

/// The variant with a probe at the entry of the hot method. `does` is its body in Java.
pub fn probe(timing: &Timing, does: &str) -> Variant {
    variant(timing, COUNTING, |folder| {
        written("Counted.java", does, folder)
    })
}

fn variant(
    timing: &Timing,
    name: &str,
    probe: impl Fn(&Path) -> Result<PathBuf, TrustError>,
) -> Variant {
    let process = || -> Result<Process, TrustError> {
        let folder = timing.folder("btrace")?;
        let (agent, script) = prepare(timing, &probe(&folder)?, &folder)?;
        // The agent writes its messages, including errors, to standard error.
        let option = format!(
            "-javaagent:{}=script={},stdout=true,noServer=true,debug=true",
            agent.display(),
            script.display()
        );
        let mut options: Vec<String> = OPENS.iter().map(ToString::to_string).collect();
        options.push(option);
        let java = timing.java(&options, &[]);
        // The agent does not report a failure to the program, which would then be measured without
        // a probe. So a JVM with the same options is started first, to check for errors.
        let probe = Process::new(timing.jdk.tool("java"))
            .args(&options)
            .arg("-version")
            .run()?;
        match probe
            .err
            .lines()
            .find(|line| line.contains("Failed to load"))
        {
            Some(line) => {
                let cause = probe.err.lines().find(|l| l.contains("Exception: "));
                Err(TrustError::Rejected(format!(
                    "{}: {}",
                    cause.unwrap_or_default(),
                    line.rsplit('/').next().unwrap_or(line)
                )))
            }
            None => Ok(java),
        }
    };
    timing
        .variant(name, process())
        .checked(all_calls(timing.calls))
}

/// Arranges the jars as their manifests require, and compiles the script. Returns the paths of the
/// agent and of the script.
fn prepare(timing: &Timing, probe: &Path, folder: &Path) -> Result<(PathBuf, PathBuf), TrustError> {
    for name in ["btrace-agent", "btrace-boot", "btrace-client"] {
        std::fs::copy(jar(name)?, folder.join(format!("{name}.jar")))?;
    }
    let path = std::env::join_paths(
        ["btrace-client", "btrace-boot", "btrace-agent"].map(|n| folder.join(format!("{n}.jar"))),
    )?;
    Process::new(timing.jdk.tool("java"))
        .args(OPENS)
        .arg("-cp")
        .arg(path)
        .arg("org.openjdk.btrace.compiler.Compiler")
        .arg("-cp")
        .arg(folder.join("btrace-boot.jar"))
        .arg("-d")
        .arg(folder)
        .arg(probe)
        .run()?
        .succeeded("BTrace's compiler")?;
    let class = Path::new(probe.file_name().unwrap_or_default()).with_extension("class");
    Ok((folder.join("btrace-agent.jar"), folder.join(class)))
}
