//! This JVM's own directory below the data directory that the command has named, and the files in
//! it.
//!
//! Several JVMs can share the named directory, because a build tool starts many, and later runs can
//! use it again. Called once on the thread that starts the agent, and once when the agent leaves.

use crate::data::aggregations::Tallies;
use crate::data::metadata_journal::MetadataJournal;
use crate::data::rings::Rings;
use crate::data::shards::Shards;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use veneer_protocol::data::{COUNTERS_FILE, Record, TALLIES_FILE};

/// The most directories of processes with the same id.
const MAX_DIRECTORIES_PER_PID: u32 = 1000;

/// Creates the directory and returns its path: `<pid>`, or `<pid>.1` and so on if earlier processes
/// had the same id.
pub fn make(root: &Path) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(root)?;
    let pid = std::process::id();
    for n in 0..MAX_DIRECTORIES_PER_PID {
        let path = match n {
            0 => root.join(pid.to_string()),
            n => root.join(format!("{pid}.{n}")),
        };
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
            Ok(()) => return Ok(path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The open files of the directory.
pub struct Files {
    pub shards: Shards,
    /// The ring buffers of events.
    pub rings: Rings,
    /// The aggregation maps that compiled probes fill.
    pub tallies: Tallies,
    /// The metadata journal. It is created last, so that a reader that finds it finds the others.
    pub catalogue: MetadataJournal,
}

impl Files {
    /// Creates the files. `jvm` is the name and the version of the JVM; `nano_began` is the start
    /// of the agent by `System.nanoTime()`.
    pub fn create(own: &Path, jvm: (String, String), nano_began: u64) -> io::Result<Files> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let began = since.map_or(0, |d| d.as_millis() as u64);
        let first = Record::first_record(std::process::id(), jvm.0, jvm.1, began, nano_began);
        Ok(Files {
            shards: Shards::create(&own.join(COUNTERS_FILE))?,
            rings: Rings::create(own)?,
            tallies: Tallies::create(&own.join(TALLIES_FILE))?,
            catalogue: MetadataJournal::create(own, &first)?,
        })
    }
}

/// Removes the command's settings file, and its directory if that is empty then.
pub fn remove_config(config: &Path) {
    let _ = std::fs::remove_file(config);
    if let Some(directory) = config.parent() {
        let _ = std::fs::remove_dir(directory);
    }
}

/// Removes the directory. If the agent was loaded into a running JVM, also removes the directory above
/// it, unless the directory of another JVM is there.
///
/// Under `veneer run`, the directory above belongs to the command. It shows the command that a JVM
/// has run.
pub fn remove(own: &Path) {
    let _ = std::fs::remove_dir_all(own);
    if let Some(root) = own.parent() {
        // The command writes this file when it loads the agent into a running JVM.
        let settings = root.join("agent.json");
        if std::fs::remove_file(settings).is_ok() {
            // Fails if the directory of another JVM is in it.
            let _ = std::fs::remove_dir(root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use veneer_protocol::data::{is_data_directory, read_journal};

    #[test]
    fn processes_with_the_same_id_have_their_own_directories() {
        let scratch = ScratchDirectory::new();
        let root = scratch.join("a/b");
        let paths = [(); 3].map(|()| make(&root).expect("a directory"));
        let pid = std::process::id().to_string();
        let names = [pid.clone(), format!("{pid}.1"), format!("{pid}.2")];
        assert_eq!(paths, names.map(|name| root.join(name)));
    }

    #[test]
    fn the_directory_above_remains_until_the_last_jvm_has_left() {
        let scratch = ScratchDirectory::new();
        let root = scratch.join("root");
        let (one, two) = (make(&root).expect("one"), make(&root).expect("two"));
        std::fs::write(root.join("agent.json"), "{}").expect("settings");
        remove(&one);
        assert!(!one.exists() && two.exists());
        std::fs::write(root.join("agent.json"), "{}").expect("settings of the other JVM");
        remove(&two);
        assert!(!root.exists());
    }

    #[test]
    fn the_directory_above_remains_for_the_command_that_started_the_jvm() {
        let scratch = ScratchDirectory::new();
        let root = scratch.join("root");
        let own = make(&root).expect("a directory");
        remove(&own);
        assert!(!own.exists() && root.exists());
    }

    #[test]
    fn the_settings_file_is_removed_and_other_files_beside_it_remain() {
        let scratch = ScratchDirectory::new();
        let config = scratch.join("x/agent.json");
        std::fs::create_dir(scratch.join("x")).expect("a directory");
        std::fs::write(&config, "{}").expect("settings");
        std::fs::write(scratch.join("x/other"), "").expect("a file");
        remove_config(&config);
        assert!(!config.exists() && scratch.join("x/other").exists());
    }

    #[test]
    fn the_files_can_be_read_as_a_data_directory() {
        let scratch = ScratchDirectory::new();
        let own = make(scratch.path()).expect("a directory");
        let files = Files::create(&own, ("VM".into(), "25".into()), 99).expect("files");
        assert!(is_data_directory(&own));
        let journal = read_journal(&own).expect("a journal");
        assert_eq!(
            (journal.name.as_str(), journal.version.as_str()),
            ("VM", "25")
        );
        assert_eq!((journal.pid, journal.began_ns), (std::process::id(), 99));
        drop(files);
    }
}
