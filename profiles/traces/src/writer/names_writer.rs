//! Appends records to the names file of a trace.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::TraceError;
use crate::format::names::NameRecord;
use crate::format::{NAMES_FILE, VERSION};

/// An open names file. One thread writes at a time.
#[derive(Debug)]
pub struct NamesWriter {
    file: File,
    path: PathBuf,
    length: u64,
}

impl NamesWriter {
    /// Creates the directory and the names file in it, and writes the first record. An existing
    /// names file is emptied.
    pub fn create(
        directory: &Path,
        pid: u32,
        jvm: &str,
        jvm_version: &str,
    ) -> Result<NamesWriter, TraceError> {
        fs::create_dir_all(directory).map_err(|e| TraceError::io(directory, e))?;
        let path = directory.join(NAMES_FILE);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(|e| TraceError::io(&path, e))?;
        let mut names = NamesWriter {
            file,
            path,
            length: 0,
        };
        names.write(&NameRecord::Trace {
            version: VERSION,
            pid,
            jvm: jvm.into(),
            jvm_version: jvm_version.into(),
        })?;
        Ok(names)
    }

    /// Appends a record. After an error the file has its previous records, and the next call
    /// overwrites a partial line.
    pub fn write(&mut self, record: &NameRecord) -> Result<(), TraceError> {
        let line = record.line();
        self.file
            .write_all_at(line.as_bytes(), self.length)
            .map_err(|e| TraceError::io(&self.path, e))?;
        self.length += line.len() as u64;
        Ok(())
    }
}
