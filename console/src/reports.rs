//! Checks after the application's end whether the reports of `--report` were written. There is one
//! file, or with `--children` one for each JVM (`r.json` → `r.4711.json`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::disk_check::ReportFile;

/// Tolerance when modification times are compared with the clock. File systems store times with a
/// lower resolution.
const TIME_TOLERANCE: Duration = Duration::from_secs(1);

/// The reports that the application is expected to write.
#[derive(Debug)]
pub enum ReportFiles {
    /// The user did not request a report.
    None,
    /// One file. It was emptied before the start of the application.
    One(PathBuf),
    /// One file for each process, named after this path. Files older than the time are not counted.
    Each(PathBuf, SystemTime),
}

impl ReportFiles {
    /// Prepares the reports immediately before the application starts. `report` is known to be
    /// writable.
    pub fn begin(report: Option<ReportFile>, children: bool) -> io::Result<ReportFiles> {
        Ok(match report {
            None => ReportFiles::None,
            Some(report) if children => {
                // The file itself is not written with `--children`; only its name is used. Dropping
                // `report` restores the original state.
                ReportFiles::Each(report.path().to_owned(), SystemTime::now())
            }
            Some(report) => ReportFiles::One(report.truncate()?),
        })
    }

    /// Returns the path of the report if no report was written.
    pub fn missing(&self) -> Option<&Path> {
        match self {
            ReportFiles::None => None,
            ReportFiles::One(path) => is_empty(path).then_some(path.as_path()),
            ReportFiles::Each(path, start) => (!any_since(path, *start)).then_some(path.as_path()),
        }
    }
}

fn is_empty(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |meta| meta.len() == 0)
}

/// Whether any process has written its report since `start`.
fn any_since(path: &Path, start: SystemTime) -> bool {
    let part =
        |text: Option<&std::ffi::OsStr>| text.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    let is_ours = |name: &str| {
        let rest = name.strip_prefix(&stem)?.strip_prefix('.')?;
        let pid = match extension.as_str() {
            "" => rest,
            extension => rest.strip_suffix(extension)?.strip_suffix('.')?,
        };
        pid.parse::<u32>().ok()
    };
    let Some(Ok(entries)) = path.parent().map(fs::read_dir) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let written = entry.metadata().and_then(|meta| meta.modified());
        is_ours(&entry.file_name().to_string_lossy()).is_some()
            && written.is_ok_and(|time| time + TIME_TOLERANCE >= start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_any_process_is_accepted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        let reports = || {
            let report = ReportFile::check(&path, "--report").unwrap();
            ReportFiles::begin(Some(report), true).unwrap()
        };
        let each = reports();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        for other in ["r.json", "r.x.json", "r.4711.txt", "q.4711.json"] {
            fs::write(directory.path().join(other), "{}").unwrap();
        }
        assert!(each.missing().is_some());
        fs::write(directory.path().join("r.4711.json"), "{}").unwrap();
        assert!(each.missing().is_none());
    }

    #[test]
    fn an_old_report_is_not_accepted() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("r.4711.json"), "{}").unwrap();
        let later = SystemTime::now() + 2 * TIME_TOLERANCE;
        assert!(!any_since(&directory.path().join("r.json"), later));
    }
}
