//! AspectJ's load-time weaver with around advice.

use std::path::{Path, PathBuf};

use super::source::compile;
use super::timing::{Timing, all_calls};
use crate::bench::groups::Variant;
use crate::jars::jar;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::TrustError;

pub const NAME: &str = "AspectJ, around advice";

/// Compiles the aspect for a pointcut into a folder, which must then be on the class path. Returns
/// the option that starts the weaver.
pub fn prepare(
    jdk: &Jdk,
    folder: &Path,
    pointcut: &str,
    within: &str,
) -> Result<String, TrustError> {
    let weaver: PathBuf = jar("aspectjweaver")?;
    std::fs::create_dir_all(folder.join("META-INF"))?;
    compile(jdk, "Timing.java", &weaver, folder)?;
    let text = format!(
        "<aspectj>\n  <aspects>\n    <concrete-aspect name=\"Chosen\" extends=\"Timing\">\n      \
         <pointcut name=\"timed\" expression=\"{pointcut}\"/>\n    </concrete-aspect>\n  </aspects>\n  \
         <weaver>\n    <include within=\"{within}\"/>\n  </weaver>\n</aspectj>\n"
    );
    std::fs::write(folder.join("META-INF/aop.xml"), text)?;
    Ok(format!("-javaagent:{}", weaver.display()))
}

/// The variant with advice around the hot call.
pub fn timer(timing: &Timing) -> Variant {
    let process = || -> Result<Process, TrustError> {
        let folder = timing.folder("aspectj")?;
        let agent = prepare(timing.jdk, &folder, "execution(* HotCall.step(..))", "*")?;
        Ok(timing.java(&[agent], &[&folder]))
    };
    timing
        .variant(NAME, process())
        .checked(all_calls(timing.calls))
}
