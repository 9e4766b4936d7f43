//! The bytes that a tool has recorded in its latest run.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::rc::Rc;

/// The bytes of the files of the latest run; 0 if the tool has no files. The check of a run sets it.
pub type RecordedBytes = Rc<Cell<u64>>;

/// The bytes of all files below a folder.
pub fn folder_bytes(folder: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        sum += match entry.file_type()?.is_dir() {
            true => folder_bytes(&entry.path())?,
            false => entry.metadata()?.len(),
        };
    }
    Ok(sum)
}
