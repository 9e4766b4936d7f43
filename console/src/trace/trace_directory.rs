//! The directory of a trace: where the agent made it, and how it gets to the user's place.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use veneer_client::Target;

/// A trace directory that the agent made.
pub struct TraceDirectory {
    path: PathBuf,
}

impl TraceDirectory {
    /// The directory at this path in the file system of the JVM.
    pub fn of_jvm(target: &Target, path: &Path) -> TraceDirectory {
        let from_here = target.path_from_here(path);
        let identity = |path: &Path| fs::metadata(path).map(|one| (one.dev(), one.ino())).ok();
        // The path through the process is not valid after the end of the process.
        let is_same = identity(path).is_some_and(|here| identity(&from_here) == Some(here));
        TraceDirectory {
            path: if is_same {
                path.to_path_buf()
            } else {
                from_here
            },
        }
    }

    /// The directory at this path in our own file system.
    pub fn here(path: PathBuf) -> TraceDirectory {
        TraceDirectory { path }
    }

    /// The directory, as this command reaches it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the files to another directory, which is empty or absent. Its parent is created again if it
    /// was removed during the recording.
    ///
    /// # Errors
    /// The trace was removed during the recording, or it cannot be moved and stays where it is.
    pub fn move_to(self, place: &Path) -> Result<()> {
        let from = self.path.display();
        if !self.path.exists() {
            bail!("the trace is lost: {from} was removed during the recording; record it again");
        }
        let failed = || {
            format!(
                "the trace is in {from}, but cannot be moved to {}",
                place.display()
            )
        };
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).with_context(failed)?;
        }
        // An empty directory at the place is replaced.
        match fs::rename(&self.path, place) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                copy_files(&self.path, place).with_context(failed)?;
                fs::remove_dir_all(&self.path).with_context(failed)
            }
            Err(error) => Err(error).with_context(failed),
        }
    }
}

/// Makes the directory in which the trace's directory will be.
///
/// # Errors
/// There is something else at the place already.
pub fn free_place(place: &Path) -> Result<PathBuf> {
    match fs::read_dir(place) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                bail!(
                    "{} is not empty; name another directory with -o",
                    place.display()
                );
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            return Err(error)
                .with_context(|| format!("{} cannot be a trace directory", place.display()));
        }
    }
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)
            .with_context(|| format!("{} cannot be created", parent.display()))?;
    }
    Ok(place.to_path_buf())
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_or_absent_directory_is_a_place_for_a_trace() {
        let scratch = tempfile::tempdir().unwrap();
        let absent = scratch.path().join("a/b");
        assert_eq!(free_place(&absent).unwrap(), absent);
        assert!(scratch.path().join("a").is_dir() && !absent.exists());
        fs::create_dir(&absent).unwrap();
        assert!(free_place(&absent).is_ok());
        fs::write(absent.join("names"), "").unwrap();
        assert!(free_place(&absent).is_err());
        assert!(free_place(&absent.join("names")).is_err());
    }

    #[test]
    fn a_trace_is_moved_over_an_empty_directory_and_copied_if_necessary() {
        let scratch = tempfile::tempdir().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("names"), "x").unwrap();
        fs::create_dir(&to).unwrap();
        let copied = scratch.path().join("copied");
        copy_files(&from, &copied).unwrap();
        TraceDirectory { path: from.clone() }.move_to(&to).unwrap();
        assert!(!from.exists());
        for place in [to, copied] {
            assert_eq!(fs::read_to_string(place.join("names")).unwrap(), "x");
        }
    }
}
