//! Kieker's operation-execution probe, woven by AspectJ, with its binary files.

use super::recorded::{RecordedBytes, folder_bytes};
use super::timing::Timing;
use crate::bench::groups::{CheckError, Variant};
use crate::jars::jar;
use crate::process::Process;
use crate::trust::part::TrustError;

pub const NAME: &str = "Kieker, binary files";

/// The aspect on the hot call. Without it, Kieker weaves its probe into all methods.
const ASPECT: &str = "<aspectj>\n  <weaver options=\"\"><include within=\"HotCall\"/></weaver>\n  <aspects>\n    \
    <concrete-aspect name=\"kieker.Step\" \
    extends=\"kieker.monitoring.probe.aspectj.operationExecution.AbstractOperationExecutionAspect\">\n      \
    <pointcut name=\"monitoredOperation\" expression=\"execution(* HotCall.step(..))\"/>\n    \
    </concrete-aspect>\n  </aspects>\n</aspectj>\n";

/// The class of the writer.
const WRITER: &str = "kieker.monitoring.writer.filesystem.FileWriter";

/// The variant that records the hot call. A record has 56 bytes, so the size of the files shows whether
/// all calls are there.
pub fn tracer(timing: &Timing) -> (Variant, RecordedBytes) {
    let process = || -> Result<Process, TrustError> {
        let folder = timing.folder("kieker")?;
        let out = timing.folder("kieker-out")?;
        std::fs::create_dir_all(folder.join("META-INF"))?;
        std::fs::write(folder.join("META-INF/aop.xml"), ASPECT)?;
        let options = [
            format!("-javaagent:{}", jar("kieker")?.display()),
            // Kieker's own copy of AspectJ (1.9.22) cannot define classes on JDK 25.
            format!("-Xbootclasspath/a:{}", jar("aspectjweaver")?.display()),
            "-Dkieker.monitoring.skipDefaultAOPConfiguration=true".into(),
            format!("-Dkieker.monitoring.writer={WRITER}"),
            format!("-D{WRITER}.customStoragePath={}", out.display()),
            format!(
                "-D{WRITER}.logStreamHandler=kieker.monitoring.writer.filesystem.BinaryLogStreamHandler"
            ),
            // The default of 8 KiB takes longer.
            format!("-D{WRITER}.bufferSize=8388608"),
        ];
        Ok(timing.java(&options, &[&folder]))
    };
    let recorded = RecordedBytes::default();
    let (bytes, calls, out) = (
        recorded.clone(),
        timing.calls,
        timing.compiled.join("kieker-out"),
    );
    let variant = timing.variant(NAME, process()).checked(move |_| {
        let unreadable = |reason| CheckError::Unreadable {
            path: out.clone(),
            reason,
        };
        bytes.set(folder_bytes(&out).map_err(unreadable)?);
        std::fs::remove_dir_all(&out).map_err(unreadable)?;
        std::fs::create_dir_all(&out).map_err(unreadable)?;
        match bytes.get() / RECORD_BYTES {
            seen if seen >= calls => Ok(()),
            seen => Err(CheckError::MissedCalls { seen, calls }),
        }
    });
    (variant, recorded)
}

/// The bytes of a record of a call in a binary file.
const RECORD_BYTES: u64 = 56;
