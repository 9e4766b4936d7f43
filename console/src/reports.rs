//! What has become of `--report`: one file, or with `--children` one for each JVM (`r.json` → `r.4711.json`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::space::ReportFile;

/// File systems keep times less exactly than the clock tells them.
const SLACK: Duration = Duration::from_secs(1);

/// See the module documentation.
#[derive(Debug)]
pub enum Reports {
    /// Not asked for.
    None,
    /// One file, which is empty now.
    One(PathBuf),
    /// One for each process beside this one, none of which is older than this.
    Each(PathBuf, SystemTime),
}

impl Reports {
    /// From a file that is known to be writable, now that the application is about to start.
    pub fn begin(report: Option<ReportFile>, children: bool) -> io::Result<Reports> {
        Ok(match report {
            None => Reports::None,
            Some(report) if children => {
                // The file itself is only a name here: dropped, it is as it was.
                Reports::Each(report.path().to_owned(), SystemTime::now())
            }
            Some(report) => Reports::One(report.empty()?),
        })
    }

    /// The file that should be there and is not.
    pub fn missing(&self) -> Option<&Path> {
        match self {
            Reports::None => None,
            Reports::One(path) => is_empty(path).then_some(path.as_path()),
            Reports::Each(path, begun) => (!any_since(path, *begun)).then_some(path.as_path()),
        }
    }
}

fn is_empty(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |meta| meta.len() == 0)
}

/// Whether a process has written its report since then.
fn any_since(path: &Path, begun: SystemTime) -> bool {
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
            && written.is_ok_and(|time| time + SLACK >= begun)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_any_process_will_do() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        let reports = || {
            let report = ReportFile::check(&path).unwrap();
            Reports::begin(Some(report), true).unwrap()
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
    fn an_old_report_does_not_pass_for_a_new_one() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("r.4711.json"), "{}").unwrap();
        let later = SystemTime::now() + 2 * SLACK;
        assert!(!any_since(&directory.path().join("r.json"), later));
    }
}
