//! `veneer run --lifetimes OUT --lifetimes-of TYPE`: the lifetimes of a program's objects from its start to
//! its end.
//!
//! If several JVMs recorded, each one has a file of its own: `app.vmem` becomes `app.4711.vmem`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use veneer_memory::profile::LifetimeGroup;
use veneer_protocol::{PlanSource, path_of_process};

use super::followed_type::FollowedType;
use super::lives_file::{LivesFile, lives_directories};
use crate::output::print_error;
use crate::quantity::quantity;
use crate::replaced_file::replace_file;

/// The name of the plan in messages.
const PLAN_NAME: &str = "lifetimes";

/// A recording of all JVMs of a command.
pub struct RunLifetimes {
    /// The file that the user named.
    place: PathBuf,
    followed: FollowedType,
    within: Vec<String>,
}

impl RunLifetimes {
    /// Checks the file before the program starts. `arm` has the patterns of the methods whose uses are
    /// observed; without one, those of all methods are.
    ///
    /// # Errors
    /// The folder of the file cannot be written.
    pub fn prepare(place: &Path, followed: &FollowedType, arm: &[String]) -> Result<RunLifetimes> {
        let folder = place.parent().filter(|path| !path.as_os_str().is_empty());
        tempfile::tempfile_in(folder.unwrap_or(Path::new(".")))
            .with_context(|| format!("{} cannot be written", place.display()))?;
        Ok(RunLifetimes {
            place: place.to_path_buf(),
            followed: followed.clone(),
            within: arm.to_vec(),
        })
    }

    /// The plan that records.
    pub fn plan(&self) -> PlanSource {
        PlanSource {
            name: PLAN_NAME.into(),
            source: format!(
                "{}at_exit(|| {{ for h in handles {{ h.detach(); }} }});\n",
                self.followed.plan(&self.within)
            ),
            settings: Default::default(),
            modules: Default::default(),
        }
    }

    /// Writes the lifetimes of the JVMs that recorded in the data directory and that are not in `before`.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn finish(&self, data: &Path, before: &BTreeSet<PathBuf>) -> Result<()> {
        let recorded = lives_directories(data);
        let recorded: Vec<&PathBuf> = recorded.difference(before).collect();
        if recorded.is_empty() {
            print_error(&"no JVM recorded lifetimes");
        }
        for directory in &recorded {
            let file = LivesFile::new(directory.to_path_buf());
            let Some(pid) = file.process() else { continue };
            let place = match recorded.len() {
                1 => self.place.clone(),
                _ => path_of_process(&self.place, pid),
            };
            let mut profile = file.take()?;
            profile.program = format!("objects of {} in process {pid}", self.followed.text());
            replace_file(&place, |out| Ok(profile.write(out)?))?;
            let rows = profile.lifetimes(LifetimeGroup::Site);
            let objects = rows.iter().map(|row| row.lives.objects).sum();
            print_error(&format_args!(
                "{}: {} of {}",
                place.display(),
                quantity(objects, "object"),
                quantity(rows.len() as u64, "allocation site")
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_of_a_run_is_a_program_and_the_folder_must_exist() {
        let folder = tempfile::tempdir().unwrap();
        let followed: FollowedType = "shop.Order".parse().unwrap();
        let place = folder.path().join("app.vmem");
        let recording = RunLifetimes::prepare(&place, &followed, &[]).unwrap();
        crate::plans::check_plan(&recording.plan()).unwrap();
        recording.finish(folder.path(), &BTreeSet::new()).unwrap();
        assert!(!place.exists());
        let absent = folder.path().join("none/app.vmem");
        assert!(RunLifetimes::prepare(&absent, &followed, &[]).is_err());
    }
}
