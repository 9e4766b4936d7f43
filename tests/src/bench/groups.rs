//! Variants of a program, run in turns: each group has one run of each, in fresh JVMs, and ratios are taken within it.
//!
//! ```text
//!   group 1:  plain  armed  counted  JaCoCo        each group begins one further on, so that what comes first or last
//!   group 2:  armed  counted  JaCoCo  plain        (a machine that warms up, a disk cache) is not always the same variant
//! ```

use std::time::{Duration, Instant};

use crate::figures::run::Run;
use crate::figures::statistics::median;
use crate::process::Process;

/// No run may take longer.
const LIMIT: Duration = Duration::from_secs(240);

/// Says why a run is not what its variant claims.
pub type Check = Box<dyn Fn(&Run) -> Result<(), String>>;

/// A way to run a program. The first one of a list is the plain one.
pub struct Variant {
    /// In tables.
    pub name: String,
    /// Whether it is another tool: then its failure is a finding and not a failure.
    pub peer: bool,
    /// What to run; or why it cannot be run at all.
    pub process: Result<Process, String>,
    /// Looks at each run.
    pub check: Check,
}

impl Variant {
    /// One of Veneer's own.
    pub fn new(name: &str, process: Process) -> Self {
        Self {
            name: name.to_string(),
            peer: false,
            process: Ok(process),
            check: Box::new(|_| Ok(())),
        }
    }

    /// Another tool.
    pub fn peer(name: &str, process: Result<Process, String>) -> Self {
        Self {
            peer: true,
            process: process.clone(),
            ..Self::new(name, Process::new("true"))
        }
    }

    /// Looks at each run.
    #[must_use]
    pub fn checked(mut self, check: impl Fn(&Run) -> Result<(), String> + 'static) -> Self {
        self.check = Box::new(check);
        self
    }
}

/// What the runs of a variant showed, a value for each group.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// The variant.
    pub name: String,
    /// Whether it is another tool.
    pub peer: bool,
    /// Milliseconds of a round by the program's own clock: the median of the last third.
    pub time: Vec<f64>,
    /// Milliseconds of processor time of the main thread in a round: the mean of the last third.
    pub processor: Vec<f64>,
    /// The same by the plain run of the group.
    pub time_ratio: Vec<f64>,
    /// The same by the plain run of the group.
    pub processor_ratio: Vec<f64>,
    /// Why it was given up, if it was: one line.
    pub error: Option<String>,
}

impl Series {
    /// The ratios that goals are about: of processor time where the kernel tells and the main thread does most of the work, else of
    /// time.
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

/// Runs all variants so many times. A variant that fails is not tried again.
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
        // The very first run is the plain one: what it says is what all others must say.
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
                Err(fault) => {
                    let line = first_line(&fault);
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

/// Notes the ratios of a group to its plain run.
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

fn once(variant: &Variant, said: Option<&str>) -> Result<Run, String> {
    let process = variant.process.clone()?;
    let run = Run::of(&process, LIMIT).map_err(|e| e.to_string())?;
    if said.is_some_and(|said| said != results(&run.out)) {
        return Err("its results are not those of the plain run".into());
    }
    (variant.check)(&run)?;
    Ok(run)
}

/// The lines of a program's output that are its own: peers print there too.
fn results(out: &str) -> String {
    let own = |line: &&str| line.starts_with("round ") || line.starts_with("total ");
    out.lines().filter(own).collect::<Vec<_>>().join("\n")
}

/// What to say of an error in one line: the first that names an exception or an error, else the first.
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
    fn another_result_is_no_figure() {
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
    fn a_peer_that_cannot_be_run_is_told() {
        let peer = Variant::peer("peer", Err("not on this JDK".into()));
        let series = measure("test", 1, &[program("plain", "7"), peer]);
        assert_eq!(
            series.get(1).and_then(|s| s.error.clone()).as_deref(),
            Some("not on this JDK")
        );
    }

    #[test]
    fn the_line_that_tells_is_shown() {
        let text =
            "java -cp x Y: ended with 1\nsome words\njava.lang.IllegalStateException: no\n at x";
        assert_eq!(first_line(text), "java.lang.IllegalStateException: no");
        assert_eq!(first_line("all is lost\nmore"), "all is lost");
    }
}
