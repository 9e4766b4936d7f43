//! JaCoCo: a flag for each branch, set when it is taken; what remains of its agent when the JVM ends is a file.

use crate::bench::groups::{Variant, first_line};
use crate::bench::prepare::Compiled;
use crate::bench::workload::Workload;
use crate::jars::jar;
use crate::jdk::Jdk;

/// In tables.
pub const NAME: &str = "JaCoCo";

/// The agent as an option of the JVM.
pub fn agent(file: &std::path::Path) -> Result<String, String> {
    let jar = jar("jacoco-agent").map_err(|e| first_line(&e.to_string()))?;
    Ok(format!(
        "-javaagent:{}=destfile={}",
        jar.display(),
        file.display()
    ))
}

/// A workload under its agent, with the settings that it has by itself.
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
