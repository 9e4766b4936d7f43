//! Checks by writing, before the application starts, whether the report can be written later.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Number of bytes that must be free for a report.
const REQUIRED_BYTES: usize = 64 << 10;

/// Why a report could not be written later.
#[derive(Debug, Error)]
pub enum DiskSpaceError {
    /// The file cannot be opened.
    #[error("the report {path} cannot be written: {source}; choose another file for {option}", path = .path.display())]
    Unwritable {
        /// The path as the user wrote it.
        path: PathBuf,
        /// The option that names the file.
        option: &'static str,
        source: io::Error,
    },
    /// The path denotes a device, a pipe or a directory.
    #[error("the report {path} is not a regular file; choose another one for {option}", path = .path.display())]
    NotAFile {
        /// The path as the user wrote it.
        path: PathBuf,
        /// The option that names the file.
        option: &'static str,
    },
    /// The disk is full.
    #[error("there is no room for the report {path}: {source}; free some space or choose another file for {option}", path = .path.display())]
    Full {
        /// The path as the user wrote it.
        path: PathBuf,
        /// The option that names the file.
        option: &'static str,
        source: io::Error,
    },
}

/// A report file that is known to be writable. If the value is dropped without
/// [`ReportFile::truncate`], the file is restored to its original state.
#[derive(Debug)]
pub struct ReportFile {
    path: PathBuf,
    file: File,
    created: bool,
}

impl ReportFile {
    /// Opens or creates the file that an option names, and tests with [`probe`] whether it can be
    /// extended.
    pub fn check(path: &Path, option: &'static str) -> Result<ReportFile, DiskSpaceError> {
        let unwritable = |source| DiskSpaceError::Unwritable {
            path: path.to_owned(),
            option,
            source,
        };
        let path_now = std::path::absolute(path).map_err(unwritable)?;
        let there = fs::metadata(&path_now).ok();
        if there.as_ref().is_some_and(|meta| !meta.is_file()) {
            let path = path.to_owned();
            return Err(DiskSpaceError::NotAFile { path, option });
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            // `O_NONBLOCK`: if the file was replaced by a pipe after the check above, opening must
            // not wait for the other end.
            .custom_flags(libc::O_NONBLOCK)
            .open(&path_now)
            .map_err(unwritable)?;
        let report = ReportFile {
            path: fs::canonicalize(&path_now).map_err(unwritable)?,
            file,
            created: there.is_none(),
        };
        probe(&report.file).map_err(|source| DiskSpaceError::Full {
            path: path.to_owned(),
            option,
            source,
        })?;
        Ok(report)
    }

    /// The absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Empties the file immediately before the application starts. Otherwise an old report could be
    /// taken for the new one.
    pub fn truncate(mut self) -> io::Result<PathBuf> {
        self.file.set_len(0)?;
        self.created = false;
        Ok(self.path.clone())
    }
}

impl Drop for ReportFile {
    fn drop(&mut self) {
        if self.created {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes behind the end of the file, through to the disk, and restores the file's length.
fn probe(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let written = file
        .write_all_at(&[b' '; REQUIRED_BYTES], length)
        .and_then(|()| file.sync_data());
    let taken_back = file.set_len(length);
    written.and(taken_back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_leaves_no_trace() {
        let directory = tempfile::tempdir().unwrap();
        let new = directory.path().join("new.json");
        drop(ReportFile::check(&new, "--report").unwrap());
        assert!(!new.exists());

        let old = directory.path().join("old.json");
        fs::write(&old, "{}").unwrap();
        drop(ReportFile::check(&old, "--report").unwrap());
        assert_eq!(fs::read_to_string(&old).unwrap(), "{}");
        ReportFile::check(&old, "--report")
            .unwrap()
            .truncate()
            .unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "");
    }

    #[test]
    fn unwritable_reports_are_reported() {
        let directory = tempfile::tempdir().unwrap();
        let error =
            ReportFile::check(&directory.path().join("none/r.json"), "--report").unwrap_err();
        assert!(
            matches!(error, DiskSpaceError::Unwritable { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("none/r.json"), "{error}");
        for other in [directory.path(), Path::new("/dev/full")] {
            let error = ReportFile::check(other, "--report").unwrap_err();
            assert!(matches!(error, DiskSpaceError::NotAFile { .. }), "{error}");
        }
    }

    #[test]
    fn a_full_disk_is_noticed() {
        // /dev/full answers every write with "no space left on device".
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let error = probe(&full).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
