//! `veneer run --call-graph OUT`: the call graph of a program from its start to its end.
//!
//! ```text
//!   plan ─▶ agent ─┬─▶ report, when the JVM ends ──────┬─▶ assemble ─▶ CallProfile ─▶ OUT
//!                  ├─▶ data directory, if it is killed ┘      ▲
//!                  └─▶ ‹data›/‹process›-classes ──────────────┘
//! ```
//!
//! With `--contexts` the agent also records a tree of contexts for each thread, in the directory
//! `‹data›/‹process›-trace-1`.
//!
//! If several JVMs recorded, each one has a file of its own: `app.calls` becomes `app.4711.calls`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use veneer_calls::{CallProfile, file};
use veneer_instruments::MethodPattern;
use veneer_instruments::table::format_count;
use veneer_protocol::data::{class_facts_path, directories_with_class_facts, read_class_facts};
use veneer_protocol::{PlanSource, path_of_process};

use super::EVERY_METHOD;
use super::assemble::{self, Readings};
use super::contexts::take_contexts;
use super::hierarchy::Hierarchy;
use super::instruments::{ContextOptions, InstrumentNames};
use crate::initialisers::with_initialisers;
use crate::output::print_error;
use crate::post_mortem::{DataDirectory, ProcessState};
use crate::quantity::{quantity, verb};
use crate::recorded_jvm::{check_folder, process_id, read_report};
use crate::replaced_file::replace_file;

/// The name of the plan in messages.
const PLAN_NAME: &str = "call graph";
/// The most pairs of a call site and a class of receivers. A report in a file has room for them.
const MAX_RECEIVERS: u32 = 100_000;
/// The end of the name of the directory with the contexts of a process.
const CONTEXTS_SUFFIX: &str = "-trace-1";

/// A recording of all JVMs of a command.
pub struct RunCalls {
    /// The file that the user named.
    place: PathBuf,
    /// The patterns of the recorded methods.
    patterns: Vec<String>,
    names: InstrumentNames,
    /// The options of contexts; `None` if no contexts are recorded.
    contexts: Option<ContextOptions>,
}

impl RunCalls {
    /// Checks the file before the program starts.
    ///
    /// `arm` has the patterns of the methods to arm. Without one, all methods are recorded.
    ///
    /// # Errors
    /// The folder of the file cannot be written.
    pub fn prepare(
        place: &Path,
        arm: &[String],
        contexts: Option<ContextOptions>,
    ) -> Result<RunCalls> {
        check_folder(place)?;
        let selected = match arm {
            [] => vec![EVERY_METHOD.to_owned()],
            given => given.to_vec(),
        };
        Ok(RunCalls {
            place: place.to_path_buf(),
            patterns: with_initialisers(selected),
            names: InstrumentNames::of_this_process(),
            contexts,
        })
    }

    /// The plan that records.
    pub fn plan(&self) -> PlanSource {
        let mut source = self.names.plan(&self.patterns, MAX_RECEIVERS);
        if let Some(contexts) = self.contexts {
            source += &self.names.context_plan_until_exit(contexts);
        }
        PlanSource {
            name: PLAN_NAME.into(),
            source,
            settings: Default::default(),
            modules: Default::default(),
        }
    }

    /// Writes the graphs of the JVMs that recorded in the data directory and that are not in
    /// `before`. `report` is the path of the report of a process.
    pub fn finish(
        &self,
        data: &Path,
        before: &BTreeSet<PathBuf>,
        report: impl Fn(u32) -> Option<PathBuf>,
    ) -> Result<()> {
        let recorded = recorded_directories(data);
        let recorded: Vec<&PathBuf> = recorded.difference(before).collect();
        if recorded.is_empty() {
            print_error(&"no JVM recorded its calls");
        }
        for own in &recorded {
            let Some(pid) = process_id(own) else { continue };
            let place = match recorded.len() {
                1 => self.place.clone(),
                _ => path_of_process(&self.place, pid),
            };
            let profile = self.profile(own, report(pid).as_deref(), pid)?;
            replace_file(&place, |out| {
                file::write(&profile, out)?;
                Ok(())
            })?;
            summarise(&mut io::stderr().lock(), &place, &profile)?;
            // The profile has everything that is in the file.
            let _ = fs::remove_file(class_facts_path(own));
        }
        Ok(())
    }

    /// The calls of one JVM. `own` is its data directory, which exists only if the JVM was killed or
    /// keeps its data.
    fn profile(&self, own: &Path, report: Option<&Path>, pid: u32) -> Result<CallProfile> {
        let mut hierarchy = Hierarchy::default();
        let classes = read_class_facts(own)
            .with_context(|| format!("{} cannot be read", class_facts_path(own).display()))?;
        classes.classes.into_iter().for_each(|c| hierarchy.add(c));
        let parsed = self.patterns.iter().map(|text| MethodPattern::parse(text));
        let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
        let report = report.and_then(|path| read_report(path, pid));
        let is_whole = report.is_some();
        let (readings, jvm) = match report {
            Some(report) => {
                let jvm = format!("{} {}", report.jvm.name, report.jvm.version);
                (self.names.readings(report), jvm)
            }
            None => self.readings_of_killed(own)?,
        };
        let mut profile = assemble::profile(&readings, &hierarchy, &parsed);
        profile.add_info("jvm", &jvm);
        profile.add_info("recorded", "from the start of the program");
        for pattern in &self.patterns {
            profile.add_info("methods", pattern);
        }
        if let Some(contexts) = self.contexts {
            for (name, fact) in contexts.facts() {
                profile.add_info(name, fact);
            }
            self.add_contexts(&mut profile, own, &readings);
        }
        if !is_whole {
            profile.add_info(
                "incomplete",
                "the JVM was killed, or runs on: receivers of virtual calls and refusals are missing",
            );
        }
        Ok(profile)
    }

    /// Adds the contexts of a JVM, and removes their files.
    fn add_contexts(&self, profile: &mut CallProfile, own: &Path, readings: &Readings) {
        let mut directory = own.as_os_str().to_owned();
        directory.push(CONTEXTS_SUFFIX);
        let directory = PathBuf::from(directory);
        take_contexts(profile, &directory, &readings.contexts);
    }

    /// The counts in the data directory of a JVM that wrote no report.
    fn readings_of_killed(&self, own: &Path) -> Result<(Readings, String)> {
        let data = DataDirectory::read(own)?;
        let state = match data.state {
            ProcessState::Running => "runs on",
            ProcessState::Ended | ProcessState::Killed => "ended without a report",
        };
        print_error(&format_args!(
            "process {} {state}; its call graph has the counts up to now, without the receivers of virtual calls",
            data.catalogue.pid
        ));
        let rows = data.instruments.into_iter();
        let mut readings = self
            .names
            .counts(rows.map(|one| (one.recorded.name, one.rows)));
        readings.lost_receivers = true;
        let jvm = format!("{} {}", data.catalogue.name, data.catalogue.version);
        Ok((readings, jvm))
    }
}

/// The data directories of the JVMs that recorded. They may be removed already.
pub fn recorded_directories(data: &Path) -> BTreeSet<PathBuf> {
    directories_with_class_facts(data).into_iter().collect()
}

pub(super) fn summarise(
    to: &mut impl Write,
    place: &Path,
    profile: &CallProfile,
) -> io::Result<()> {
    let called = profile.methods().iter().filter(|one| one.entries > Some(0));
    let called = called.count() as u64;
    let calls = profile.edges().iter().map(|edge| edge.count);
    writeln!(
        to,
        "veneer: {}: {} {} called, {} on {}, {} classes or methods unseen",
        place.display(),
        quantity(called, "method"),
        verb(called, "was", "were"),
        quantity(calls.fold(0, u64::saturating_add), "call"),
        quantity(profile.edges().len() as u64, "edge"),
        format_count(profile.unseen().len() as u64)
    )?;
    if !profile.contexts().is_empty() {
        writeln!(
            to,
            "veneer: {}: {} in {}",
            place.display(),
            quantity(profile.contexts().len() as u64, "context"),
            quantity(profile.threads().len() as u64, "thread")
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_records_static_initialisers_of_classes_too() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("app.calls");
        let arm = ["a..*".to_owned(), "b.C::m(..)".to_owned()];
        let recording = RunCalls::prepare(&place, &arm, None).unwrap();
        let plan = recording.plan();
        let methods = r#"methods(["a..*", "b.C::m(..)", "a..*::<clinit>()"])"#;
        assert!(plan.source.contains(methods), "{}", plan.source);
        crate::plans::check_plan(&plan).unwrap();
        let all = RunCalls::prepare(&place, &[], Some(ContextOptions::new(false, true)))
            .unwrap()
            .plan();
        assert!(all.source.contains(r#"["*..*", "*..*::<clinit>()"]"#));
        assert!(all.source.contains("contexts()") && !plan.source.contains("contexts()"));
        crate::plans::check_plan(&all).unwrap();
        assert!(RunCalls::prepare(&folder.path().join("none/app.calls"), &arm, None).is_err());
    }

    #[test]
    fn only_jvms_of_this_run_are_written() {
        let scratch = tempfile::tempdir().unwrap();
        let data = scratch.path().join("data");
        let place = scratch.path().join("app.calls");
        fs::create_dir(&data).unwrap();
        fs::write(class_facts_path(&data.join("1")), "").unwrap();
        let before = recorded_directories(&data);
        assert_eq!(before, BTreeSet::from([data.join("1")]));
        let recording = RunCalls::prepare(&place, &[], None).unwrap();
        recording.finish(&data, &before, |_| None).unwrap();
        assert!(!place.exists());
    }
}
