//! Files and directories beside the data directory of a JVM: `DIR/<pid>-classes` beside `DIR/<pid>`. The
//! agent removes the data directory when the JVM ends, and they stay.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The path with this end beside the data directory `own`.
pub fn path_beside(own: &Path, suffix: &str) -> PathBuf {
    let mut path = own.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// The data directories below `root` that have something with this end beside them, sorted by name.
/// The directories themselves may be removed already.
pub fn directories_with(root: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let own = entries.filter_map(|entry| {
        let name = entry.file_name();
        let process = name.to_str()?.strip_suffix(suffix)?;
        Some(root.join(process))
    });
    let mut own: Vec<PathBuf> = own.collect();
    own.sort();
    own
}

/// The records of a file with one record per line, as JSON, and the number of lines that are no record.
///
/// # Errors
/// The file cannot be read.
pub fn read_lines<T: for<'d> Deserialize<'d>>(path: &Path) -> io::Result<(Vec<T>, usize)> {
    let bytes = fs::read(path)?;
    let (mut records, mut damaged) = (Vec::new(), 0);
    for line in bytes.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(record) => records.push(record),
            Err(_) => damaged += usize::from(!line.is_empty()),
        }
    }
    Ok((records, damaged))
}
