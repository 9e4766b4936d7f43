//! `veneer run --memory FILE`: the memory accesses of a program from its start to its end.
//!
//! ```text
//!   plan ─▶ agent ─┬─▶ report, when the JVM ends ─────────────┬─▶ assemble ─▶ MemoryProfile ─▶ FILE
//!                  └─▶ ‹data›/‹process›-trace-1/*.accesses ───┘
//! ```
//!
//! If several JVMs recorded, each one has a file of its own: `app.vmem` becomes `app.4711.vmem`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use veneer_memory::accesses::ACCESSES_SUFFIX;
use veneer_memory::heap::HEAP_FILE;
use veneer_protocol::{PlanSource, path_of_process};

use super::assemble;
use super::caches::{RecordedMore, cache_texts};
use super::heap;
use super::plan::{EVERY_METHOD, RecordingPlan};
use super::profile_file::{summarise, write_profile};
use crate::cli::CacheArgument;
use crate::output::print_error;
use crate::recorded_jvm::{check_folder, process_id, read_report};
use crate::trace::traces;

/// The name of the plan in messages.
const PLAN_NAME: &str = "memory";

/// A recording of all JVMs of a command.
pub struct RunMemory {
    /// The file that the user named.
    place: PathBuf,
    plan: RecordingPlan,
}

impl RunMemory {
    /// Checks the file and the caches before the program starts.
    ///
    /// `arm` has the patterns of the methods to arm. Without one, all methods are recorded.
    ///
    /// # Errors
    /// The folder of the file cannot be written, or the caches of this machine cannot be read.
    pub fn prepare(
        place: &Path,
        arm: &[String],
        caches: &[CacheArgument],
        asked: RecordedMore,
        heap: Option<u64>,
    ) -> Result<RunMemory> {
        check_folder(place)?;
        let patterns = match arm {
            [] => vec![EVERY_METHOD.to_owned()],
            given => given.to_vec(),
        };
        Ok(RunMemory {
            place: place.to_path_buf(),
            plan: match heap {
                Some(interval) => RecordingPlan::of_heap(patterns, interval),
                None => RecordingPlan::new(patterns, cache_texts(caches, asked)?),
            },
        })
    }

    /// The plan that records.
    pub fn plan(&self) -> PlanSource {
        PlanSource {
            name: PLAN_NAME.into(),
            source: self.plan.source(),
            settings: Default::default(),
            modules: Default::default(),
        }
    }

    /// Writes the profiles of the JVMs that recorded in the data directory and that are not in `before`.
    /// `report` is the path of the report of a process.
    ///
    /// # Errors
    /// A recording cannot be read, or a profile cannot be written.
    pub fn finish(
        &self,
        data: &Path,
        before: &BTreeSet<PathBuf>,
        report: impl Fn(u32) -> Option<PathBuf>,
    ) -> Result<()> {
        let recorded = traces(data);
        let recorded = recorded
            .difference(before)
            .filter(|path| has_recording(path));
        let recorded: Vec<&PathBuf> = recorded.collect();
        if recorded.is_empty() {
            print_error(&"no JVM recorded its memory");
        }
        for directory in &recorded {
            let Some(pid) = process_of_trace(directory) else {
                continue;
            };
            let place = match recorded.len() {
                1 => self.place.clone(),
                _ => path_of_process(&self.place, pid),
            };
            let known = report(pid).and_then(|path| read_report(&path, pid));
            let is_whole = known.is_some();
            let points = known.map(|report| self.plan.points(report));
            let points = points.unwrap_or_default();
            let mut profile = match self.plan.is_of_heap() {
                true => heap::profile(directory, &points.accesses)?,
                false => assemble::profile(directory, &points, self.plan.caches())?,
            };
            profile.program = self.plan.patterns().join(", ");
            if !is_whole {
                let note = "The JVM was killed or runs on: its instructions have no names.";
                profile.notes.push(note.into());
            }
            write_profile(&profile, &place)?;
            summarise(&place, &profile);
            // The profile has everything that is in the files.
            let _ = fs::remove_dir_all(directory);
        }
        Ok(())
    }
}

/// Whether a directory has a table of accesses, or samples of the heap.
fn has_recording(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.ends_with(ACCESSES_SUFFIX) || name == HEAP_FILE
    })
}

/// The process that made the directory `4711-trace-1`.
fn process_of_trace(directory: &Path) -> Option<u32> {
    let name = directory.file_name()?.to_str()?;
    let (process, _) = name.split_once("-trace-")?;
    process_id(Path::new(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_with_tables_belong_to_the_recording() {
        let scratch = tempfile::tempdir().unwrap();
        let trace = scratch.path().join("4711.2-trace-1");
        fs::create_dir(&trace).unwrap();
        assert!(!has_recording(&trace));
        fs::write(trace.join("thread-1.accesses"), "").unwrap();
        assert!(has_recording(&trace));
        assert_eq!(process_of_trace(&trace), Some(4711));
    }
}
