//! BTrace: a probe at the return of a method, with the duration.

use std::path::{Path, PathBuf};

use super::{Timing, all_calls, source, written};
use crate::bench::groups::Variant;
use crate::bench::{TrustError, other};
use crate::jars::jar;
use crate::process::Process;

/// In tables.
pub const NAME: &str = "BTrace, @Duration";

/// What it reaches into on JDKs with modules; without them it cannot begin.
const OPENS: [&str; 2] = [
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.reflect=ALL-UNNAMED",
];

/// The hot call under a probe.
pub fn timer(timing: &Timing) -> Variant {
    variant(timing, NAME, |_| Ok(source("Timed.java")))
}

/// In tables of probes.
pub const COUNTING: &str = "BTrace";

/// A probe at the entry of the hot method: what it does, in Java.
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
        // What the agent says of itself goes to standard error; there it says what fails.
        let option = format!(
            "-javaagent:{}=script={},stdout=true,noServer=true,debug=true",
            agent.display(),
            script.display()
        );
        let mut options: Vec<String> = OPENS.iter().map(ToString::to_string).collect();
        options.push(option);
        let java = timing.java(&options, &[]);
        // It says nothing of a failure to the program, which then would be measured without it: asked beforehand.
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
                Err(TrustError::Other(format!(
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

/// Lays its jars out as their manifests want them, and compiles the script. Gives the agent and the script.
fn prepare(timing: &Timing, probe: &Path, folder: &Path) -> Result<(PathBuf, PathBuf), TrustError> {
    for name in ["btrace-agent", "btrace-boot", "btrace-client"] {
        std::fs::copy(jar(name)?, folder.join(format!("{name}.jar"))).map_err(other)?;
    }
    let path = std::env::join_paths(
        ["btrace-client", "btrace-boot", "btrace-agent"].map(|n| folder.join(format!("{n}.jar"))),
    )
    .map_err(other)?;
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
