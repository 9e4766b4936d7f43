//! This JVM's own directory below the data directory that the command named: several JVMs may share that one (a build
//! tool starts many), and later runs may use it again.

use crate::data::aggregations::Tallies;
use crate::data::metadata_journal::Catalogue;
use crate::data::rings::Rings;
use crate::data::shards::Shards;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use veneer_protocol::data::{COUNTERS, Record, TALLIES};

/// Makes the directory: `<pid>`, or `<pid>.1` and so on where an earlier process had the same id.
pub fn make(root: &Path) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(root)?;
    let pid = std::process::id();
    for n in 0..1000 {
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

/// The files in it.
pub struct Files {
    /// Counters.
    pub shards: Shards,
    /// Events.
    pub rings: Rings,
    /// Tables of compiled probes.
    pub tallies: Tallies,
    /// What stands where; made last, so that whoever finds it finds the others.
    pub catalogue: Catalogue,
}

impl Files {
    /// Makes them.
    pub fn create(own: &Path, jvm: (String, String), nano_began: u64) -> io::Result<Files> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let began = since.map_or(0, |d| d.as_millis() as u64);
        let first = Record::run(std::process::id(), jvm.0, jvm.1, began, nano_began);
        Ok(Files {
            shards: Shards::create(&own.join(COUNTERS))?,
            rings: Rings::create(own)?,
            tallies: Tallies::create(&own.join(TALLIES))?,
            catalogue: Catalogue::create(own, &first)?,
        })
    }
}

/// Removes the command's file of settings, and its directory if nothing else is there.
pub fn remove_config(config: &Path) {
    let _ = std::fs::remove_file(config);
    if let Some(directory) = config.parent() {
        let _ = std::fs::remove_dir(directory);
    }
}

/// Removes the directory, and what stands above it if nothing else is there.
pub fn remove(own: &Path) {
    let _ = std::fs::remove_dir_all(own);
    if let Some(root) = own.parent() {
        // The command's own file, where the agent came into a running JVM.
        let _ = std::fs::remove_file(root.join("agent.json"));
        // Fails where another JVM's directory is in it.
        let _ = std::fs::remove_dir(root);
    }
}
