//! The files that a JVM of `veneer run` leaves, and the file into which a recording goes.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use veneer_protocol::Report;

/// Checks that a file can be written in its folder.
///
/// # Errors
/// The folder cannot be written.
pub fn check_folder(place: &Path) -> Result<()> {
    let folder = place.parent().filter(|path| !path.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    tempfile::tempfile_in(folder)
        .with_context(|| format!("{} cannot be written", place.display()))?;
    Ok(())
}

/// The process that wrote a data directory: `4711`, or `4711.2` for the third one with this id.
pub fn process_id(own: &Path) -> Option<u32> {
    let name = own.file_name()?.to_str()?;
    name.split('.').next()?.parse().ok()
}

/// The report that the process wrote when it ended.
pub fn read_report(path: &Path, pid: u32) -> Option<Report> {
    let input = File::open(path).ok()?;
    let report: Report = serde_json::from_reader(BufReader::new(input)).ok()?;
    (report.jvm.pid == pid).then_some(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_directory_is_named_after_its_process() {
        assert_eq!(process_id(Path::new("data/4711.2")), Some(4711));
        assert_eq!(process_id(Path::new("data/4711")), Some(4711));
        assert_eq!(process_id(Path::new("data/other")), None);
    }
}
