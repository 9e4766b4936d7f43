//! Runs the variants of a program in groups. Each group has one run of each variant, each in a
//! fresh JVM; ratios are taken within a group.
//!
//! ```text
//!   group 1:  plain  armed  counted  JaCoCo      Each group begins with the next variant, so that
//!   group 2:  armed  counted  JaCoCo  plain      no variant always runs first or last, which would
//!                                                matter for a cold machine or disk cache.
//! ```

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::bench::run::{Run, RunError};
use crate::bench::statistics::median;
use crate::process::{Process, ProcessError};
use crate::trust::part::TrustError;

/// Time limit of one run.
const RUN_TIMEOUT: Duration = Duration::from_secs(240);

/// In what respect a run is not what its variant claims.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("no instrument has measured anything")]
    NoHits,
    #[error("the counters have not left")]
    NotDetached,
    /// The plan detached its counters in a round that is measured.
    #[error("the counters left after round {0}, too late")]
    DetachedLate(usize),
    /// An instrument of Veneer has not seen every call.
    #[error("the {instrument} saw {seen:?} of {calls} calls")]
    Miscounted {
        instrument: &'static str,
        seen: Option<u64>,
        calls: u64,
    },
    /// Another tool has not seen every call.
    #[error("failed: it saw {seen} of {calls} calls")]
    MissedCalls { seen: u64, calls: u64 },
    #[error("failed: it has timed nothing, and does not say why")]
    NothingTimed,
    #[error("failed: it has instrumented nothing of {package}")]
    NothingInstrumented { package: &'static str },
    #[error("failed: it has written nothing")]
    NothingWritten,
    /// The file of the other tool cannot be read.
    #[error("{path}: {reason}", path = .path.display())]
    Unreadable {
        path: PathBuf,
        reason: std::io::Error,
    },
    /// The command that prints the file of the other tool has failed.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

/// Why a variant has no measurements.
#[derive(Debug, thiserror::Error)]
enum VariantError<'v> {
    /// The process that runs the variant could not be prepared.
    #[error("{0}")]
    NotPrepared(&'v TrustError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("its results are not those of the plain run")]
    OtherResults,
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Checks a run.
pub type Check = Box<dyn Fn(&Run) -> Result<(), CheckError>>;

/// One command that runs the program. The first variant of a list is the plain one.
pub struct Variant {
    /// The name in tables.
    pub name: String,
    /// Whether the variant is another tool. A failure of another tool is reported as a finding and
    /// does not make the part fail.
    pub peer: bool,
    /// The process, or the reason why it cannot be run.
    pub process: Result<Process, TrustError>,
    /// Checks each run of the variant.
    pub check: Check,
    /// The longest time of a run.
    pub limit: Duration,
}

impl Variant {
    /// A variant of Veneer or the plain variant.
    pub fn new(name: &str, process: Process) -> Self {
        Self {
            name: name.to_string(),
            peer: false,
            process: Ok(process),
            check: Box::new(|_| Ok(())),
            limit: RUN_TIMEOUT,
        }
    }

    /// A variant that is another tool.
    pub fn peer(name: &str, process: Result<Process, TrustError>) -> Self {
        Self {
            peer: true,
            process,
            ..Self::new(name, Process::new("true"))
        }
    }

    /// Sets the longest time of a run.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the check that is applied to each run.
    #[must_use]
    pub fn checked(mut self, check: impl Fn(&Run) -> Result<(), CheckError> + 'static) -> Self {
        self.check = Box::new(check);
        self
    }
}

/// The measurements of a variant, one value for each group.
#[derive(Clone, Debug, Default)]
pub struct Series {
    pub name: String,
    pub peer: bool,
    /// Time of a round in milliseconds by the program's own clock: the median of the last third.
    pub time: Vec<f64>,
    /// Processor time of the main thread per round in milliseconds: the mean of the last third.
    pub processor: Vec<f64>,
    /// `time` divided by that of the plain run of the same group.
    pub time_ratio: Vec<f64>,
    /// `processor` divided by that of the plain run of the same group.
    pub processor_ratio: Vec<f64>,
    /// The error, as one line, after which the variant was not run any more.
    pub error: Option<String>,
}

impl Series {
    /// The ratios to which goals apply. They are ratios of processor time if the kernel reports it
    /// and the main thread does most of the work, otherwise ratios of time.
    pub fn ratios(&self) -> &[f64] {
        let is_most = match (median(&self.processor), median(&self.time)) {
            (Some(processor), Some(time)) => processor >= time / 2.0,
            _ => false,
        };
        if is_most && self.processor_ratio.len() == self.time_ratio.len() {
            &self.processor_ratio
        } else {
            &self.time_ratio
        }
    }
}

/// Runs all variants in `groups` groups. A variant that has failed is not run again.
pub fn measure(label: &str, groups: usize, variants: &[Variant]) -> Vec<Series> {
    let mut series: Vec<Series> = variants
        .iter()
        .map(|v| Series {
            name: v.name.clone(),
            peer: v.peer,
            ..Series::default()
        })
        .collect();
    let mut said: Option<String> = None;
    for group in 0..groups {
        let mut runs: Vec<Option<Run>> = variants.iter().map(|_| None).collect();
        // The very first run is the plain one. The results of all other runs are compared with its
        // results.
        for turn in 0..variants.len() {
            let i = (group + turn) % variants.len();
            let (Some(variant), Some(one)) = (variants.get(i), series.get_mut(i)) else {
                continue;
            };
            if one.error.is_some() {
                continue;
            }
            let begin = Instant::now();
            match once(variant, said.as_deref()) {
                Ok(run) => {
                    said.get_or_insert_with(|| results(&run.out));
                    eprintln!(
                        "bench: {label}, group {}, {}: round {:.2} ms, processor {:.2} ms; {:.1} s in all",
                        group + 1,
                        variant.name,
                        run.round_time().unwrap_or(f64::NAN),
                        run.processor_time().unwrap_or(f64::NAN),
                        begin.elapsed().as_secs_f64()
                    );
                    one.time.extend(run.round_time());
                    one.processor.extend(run.processor_time());
                    if let Some(slot) = runs.get_mut(i) {
                        *slot = Some(run);
                    }
                }
                Err(error) => {
                    let line = first_line(&error.to_string());
                    eprintln!(
                        "bench: {label}, group {}, {}: {line}",
                        group + 1,
                        variant.name
                    );
                    one.error = Some(line);
                }
            }
        }
        ratios(&mut series, &runs);
    }
    series
}

/// Stores the ratios of a group's runs to its plain run.
fn ratios(series: &mut [Series], runs: &[Option<Run>]) {
    let Some(Some(plain)) = runs.first() else {
        return;
    };
    for (one, run) in series.iter_mut().zip(runs) {
        let Some(run) = run else { continue };
        let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?).filter(|r| r.is_finite());
        one.time_ratio
            .extend(ratio(run.round_time(), plain.round_time()));
        one.processor_ratio
            .extend(ratio(run.processor_time(), plain.processor_time()));
    }
}

fn once<'v>(variant: &'v Variant, said: Option<&str>) -> Result<Run, VariantError<'v>> {
    let process = variant.process.as_ref();
    let process = process.map_err(VariantError::NotPrepared)?;
    let run = Run::measure(process, variant.limit)?;
    if said.is_some_and(|said| said != results(&run.out)) {
        return Err(VariantError::OtherResults);
    }
    (variant.check)(&run)?;
    Ok(run)
}

/// Returns the lines of the output that the program itself printed, because other tools print there
/// too.
fn results(out: &str) -> String {
    let own = |line: &&str| line.starts_with("round ") || line.starts_with("total ");
    out.lines().filter(own).collect::<Vec<_>>().join("\n")
}

/// Returns one line for an error text: the first line that names an exception or an error,
/// otherwise the first line.
pub fn first_line(text: &str) -> String {
    let telling = |line: &&str| {
        ["Exception", "Error", "error", "refused", "failed"]
            .iter()
            .any(|word| line.contains(word))
    };
    let line = text
        .lines()
        .find(telling)
        .or(text.lines().next())
        .unwrap_or("no reason given");
    line.trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str, text: &str) -> Variant {
        let script = format!(
            "echo 'round 1 checksum {text}'; for i in 1 2 3; do echo \"round $i 2.5 ms\" >&2; done"
        );
        Variant::new(name, Process::new("sh").args(["-c", &script]))
    }

    #[test]
    fn a_run_with_another_result_has_no_figure() {
        let series = measure(
            "test",
            2,
            &[
                program("plain", "7"),
                program("same", "7"),
                program("other", "8"),
            ],
        );
        let of = |i: usize| series.get(i).cloned().unwrap_or_default();
        assert_eq!((of(1).time_ratio, of(1).error), (vec![1.0, 1.0], None));
        assert_eq!(of(2).time_ratio.len(), 0);
        assert!(
            of(2)
                .error
                .is_some_and(|e| e.contains("not those of the plain run"))
        );
    }

    #[test]
    fn a_tool_that_cannot_run_is_reported() {
        let peer = Variant::peer("peer", Err(TrustError::OnlyFrom(25)));
        let series = measure("test", 1, &[program("plain", "7"), peer]);
        assert_eq!(
            series.get(1).and_then(|s| s.error.clone()).as_deref(),
            Some("not in JDKs before 25")
        );
    }

    #[test]
    fn the_line_with_the_error_is_shown() {
        let text =
            "java -cp x Y: ended with 1\nsome words\njava.lang.IllegalStateException: no\n at x";
        assert_eq!(first_line(text), "java.lang.IllegalStateException: no");
        assert_eq!(first_line("all is lost\nmore"), "all is lost");
    }
}
