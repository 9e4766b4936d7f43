//! `veneer run --trace DIR`: the recording of a program from its start.
//!
//! ```text
//!   plan ─▶ agent ─▶ ‹data directory›/‹process›-trace-1 ─── move, when the command has ended ──▶ DIR
//! ```
//!
//! If several JVMs recorded (`--children`), each one has a directory in DIR, named after its process.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use veneer_protocol::PlanSource;

use super::call_events::call_event_code;
use super::filter_file::{TraceRules, uncounted_reason};
use super::recorded_methods::{EVERY_METHOD, MAX_METHODS};
use super::summary::{self, LeftOut};
use super::trace_directory::{self, TraceDirectory};
use veneer_client::plan_text::literal;

/// The name of the plan in messages.
const PLAN_NAME: &str = "trace";
/// The part of a directory's name after that of the process.
const MARK: &str = "-trace-";

/// A recording of all JVMs of a command.
pub struct RunRecording {
    /// The directory that the user named.
    place: PathBuf,
    rules: TraceRules,
    /// The patterns of the recorded methods.
    patterns: Vec<String>,
}

impl RunRecording {
    /// Checks the directory before the program starts.
    ///
    /// `arm` has the patterns of the methods to arm. Without one, all methods are recorded.
    pub fn prepare(place: &Path, rules: TraceRules, arm: &[String]) -> Result<RunRecording> {
        Ok(RunRecording {
            patterns: match arm {
                [] => vec![EVERY_METHOD.into()],
                given => given.to_vec(),
            },
            rules,
            place: trace_directory::free_place(place)?,
        })
    }

    /// The plan that records. At the end of the JVM it prints what was not recorded.
    pub fn plan(&self) -> PlanSource {
        let patterns: Vec<String> = self.patterns.iter().map(|text| literal(text)).collect();
        let mut source = format!(
            r#"let r = methods([{}]).limit({MAX_METHODS}).around(recorder({}));
at_exit(|| {{
    r.detach();
    let s = r.recording();
    if s.excluded_methods > 0 {{
        print(`veneer: not recorded: methods left out by the filter: ${{s.excluded_methods}}`);
    }}
    if r.hits() > 0 {{
        print("veneer: not recorded: calls {}: " + r.hits());
        print(r.table(10));
    }}
    if s.problem != () {{
        print(`veneer: the trace is incomplete: ${{s.problem}}`);
    }}
}});
"#,
            patterns.join(", "),
            literal(&self.rules.lines),
            uncounted_reason(&self.rules.lines)
        );
        source += &call_event_code(&self.rules.events.calls);
        PlanSource {
            name: PLAN_NAME.into(),
            source,
            settings: Default::default(),
            modules: Default::default(),
        }
    }

    /// Moves the traces that were recorded in the data directory since `before`, and prints what
    /// they have to standard error.
    pub fn finish(self, data: &Path, before: &BTreeSet<PathBuf>) -> Result<()> {
        let recorded: Vec<PathBuf> = traces(data).difference(before).cloned().collect();
        let mut to = io::stderr().lock();
        let places: Vec<PathBuf> = match recorded.as_slice() {
            [] => {
                writeln!(to, "veneer: no JVM recorded a trace")?;
                return Ok(());
            }
            [_] => vec![self.place.clone()],
            several => {
                fs::create_dir_all(&self.place)
                    .with_context(|| format!("{} cannot be created", self.place.display()))?;
                let names = several.iter().map(|path| process(path));
                names.map(|name| self.place.join(name)).collect()
            }
        };
        for (path, place) in recorded.into_iter().zip(places) {
            TraceDirectory::here(path).move_to(&place)?;
            write!(to, "veneer: ")?;
            summary::write(&mut to, &place, &LeftOut::default())?;
        }
        Ok(())
    }
}

/// The trace directories in the data directory of a command.
pub fn traces(data: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(data).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().contains(MARK));
    named.map(|entry| entry.path()).collect()
}

/// The name of a trace directory without the number of the recording, which is 1.
fn process(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix("-trace-1").unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_a_program_with_the_rules_of_the_filter() {
        let recording = RunRecording {
            place: PathBuf::new(),
            patterns: vec!["a..*".into(), "b..*".into()],
            rules: TraceRules {
                lines: "excludemethod \"q\" *\nincludemethod * *".into(),
                ..TraceRules::default()
            },
        };
        let plan = recording.plan();
        assert!(
            plan.source
                .contains(r#"recorder("excludemethod \"q\" *\nincludemethod * *")"#)
        );
        assert!(plan.source.contains(r#"methods(["a..*", "b..*"])"#));
        crate::plans::check_plan(&plan).unwrap();
    }

    #[test]
    fn only_traces_of_this_run_are_moved() {
        let scratch = tempfile::tempdir().unwrap();
        let (data, place) = (scratch.path().join("data"), scratch.path().join("t"));
        for name in ["1-trace-1", "1"] {
            fs::create_dir_all(data.join(name)).unwrap();
        }
        let before = traces(&data);
        assert_eq!(before, BTreeSet::from([data.join("1-trace-1")]));
        assert_eq!(process(&data.join("1-trace-1")), "1");
        RunRecording::prepare(&place, TraceRules::default(), &[])
            .unwrap()
            .finish(&data, &before)
            .unwrap();
        assert!(data.join("1-trace-1").exists() && !place.exists());
    }
}
