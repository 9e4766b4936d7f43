//! The file of lifetimes that the agent writes, in a directory of its own.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use veneer_memory::profile::{MemoryProfile, ProfileFile};

/// The name of the file.
const FILE: &str = "lives.vmem";
/// The part of the name of each directory before its number.
const MARK: &str = "-lives-";
/// Interval between two looks at whether the file is there.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// A file of lifetimes, which may not be written yet.
pub struct LivesFile {
    directory: PathBuf,
}

impl LivesFile {
    /// The file in this directory.
    pub fn new(directory: PathBuf) -> LivesFile {
        LivesFile { directory }
    }

    /// Waits until the agent has written the file, at most for `limit`.
    pub fn wait(&self, limit: Duration) {
        let end = Instant::now() + limit;
        while !self.directory.join(FILE).exists() && Instant::now() < end {
            thread::sleep(LOOK_INTERVAL);
        }
    }

    /// Reads the file, and removes it with its directory.
    ///
    /// # Errors
    /// The agent has not written the file.
    pub fn take(self) -> Result<MemoryProfile> {
        let path = self.directory.join(FILE);
        let file = File::open(&path).context(
            "the lifetimes are lost: the JVM was killed, or its data directory was removed; record them again",
        )?;
        let file = ProfileFile::read(file)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        // The profile has everything that is in the file.
        let _ = fs::remove_dir_all(&self.directory);
        Ok(file.profile)
    }

    /// The process that has recorded: `4711` of `4711-lives-1`.
    pub fn process(&self) -> Option<u32> {
        let name = self.directory.file_name()?.to_str()?;
        name.split(['.', '-']).next()?.parse().ok()
    }
}

/// The directories with lifetimes in the data directory of a command.
pub fn lives_directories(data: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(data).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().contains(MARK));
    named.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_and_removed_with_its_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("4711.2-lives-1");
        fs::create_dir(&directory).unwrap();
        assert_eq!(
            lives_directories(scratch.path()),
            BTreeSet::from([directory.clone()])
        );
        let file = || LivesFile::new(directory.clone());
        assert_eq!(file().process(), Some(4711));
        assert!(file().take().is_err());
        let profile = MemoryProfile {
            notes: vec!["x".into()],
            ..MemoryProfile::default()
        };
        profile
            .write(&mut File::create(directory.join(FILE)).unwrap())
            .unwrap();
        file().wait(Duration::from_secs(9));
        assert_eq!(file().take().unwrap(), profile);
        assert!(!directory.exists());
    }
}
