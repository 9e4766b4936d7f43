//! JaCoCo: its agent sets a flag for each branch that is taken, and writes a file when the JVM
//! ends.

use crate::bench::groups::{CheckError, Variant};
use crate::bench::prepare::Compiled;
use crate::bench::workload::Workload;
use crate::jars::{JarError, jar};
use crate::jdk::Jdk;

pub const NAME: &str = "JaCoCo";

/// The option of the JVM that loads the agent.
pub fn agent(file: &std::path::Path) -> Result<String, JarError> {
    let jar = jar("jacoco-agent")?;
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
    Variant::peer(NAME, process.map_err(Into::into)).checked(move |_| {
        let bytes = std::fs::read(&file).map_err(|reason| CheckError::Unreadable {
            path: file.clone(),
            reason,
        })?;
        let _ = std::fs::remove_file(&file);
        let name = workload.package.as_bytes();
        if bytes.windows(name.len()).any(|window| window == name) {
            Ok(())
        } else {
            Err(CheckError::NothingInstrumented {
                package: workload.package,
            })
        }
    })
}
