//! JaCoCo: its agent sets a flag for each branch that is taken, and writes a file when the JVM
//! ends.

use crate::bench::groups::{Variant, first_line};
use crate::bench::prepare::Compiled;
use crate::bench::workload::Workload;
use crate::jars::jar;
use crate::jdk::Jdk;

pub const NAME: &str = "JaCoCo";

/// The option of the JVM that loads the agent.
pub fn agent(file: &std::path::Path) -> Result<String, String> {
    let jar = jar("jacoco-agent").map_err(|e| first_line(&e.to_string()))?;
    Ok(format!(
        "-javaagent:{}=destfile={}",
        jar.display(),
        file.display()
    ))
}

/// The variant that runs a workload under the agent with default settings.
pub fn counting(
    workload: &'static Workload,
    jdk: &Jdk,
    compiled: &Compiled,
    rounds: usize,
) -> Variant {
    let file = compiled.join("jacoco.exec");
    let process = agent(&file).map(|option| workload.java(jdk, compiled, rounds, &[option], &[]));
    Variant::peer(NAME, process).checked(move |_| {
        let bytes = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let _ = std::fs::remove_file(&file);
        let name = workload.package.as_bytes();
        if bytes.windows(name.len()).any(|window| window == name) {
            Ok(())
        } else {
            Err(format!(
                "failed: it has instrumented nothing of {}",
                workload.package
            ))
        }
    })
}
