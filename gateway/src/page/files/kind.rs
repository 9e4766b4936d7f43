//! The kinds of files that the page opens, and how they are told apart: by their first bytes, and a
//! damaged file by the end of its name.

use std::path::Path;

use veneer_calls::file::{self, MAGIC, ReadError};
use veneer_memory::profile;

use crate::page::api_error::ApiError;
use crate::page::recordings::RecordingKind;

/// The bytes of a file that decide about its kind.
pub const START_BYTES: u64 = 4096;

/// The first bytes of the record of a search.
const RECORD_START: &[u8] = b"{\"veneer_search_record\"";

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// The result of `veneer search --json` or `veneer run --search`.
    Search,
    /// The observations of `veneer search --record`.
    SearchRecord,
    /// A call graph of `veneer calls -o` or `veneer run --call-graph`.
    Calls,
    /// A directory of `veneer trace -o` or `veneer run --trace`.
    Trace,
    /// A memory profile of `veneer memory simulate -o`.
    Memory,
    /// The decisions of `veneer tune --json`.
    Tuning,
}

impl FileKind {
    /// The kind of a file with these first bytes; `None` if it is no recording.
    pub fn of_start(path: &Path, start: &[u8]) -> Option<FileKind> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        if start.starts_with(&MAGIC) || ending == Some("calls") {
            Some(FileKind::Calls)
        } else if start.starts_with(RECORD_START) || ending == Some("search") {
            Some(FileKind::SearchRecord)
        } else if start.starts_with(&profile::MAGIC) || ending == Some("vmem") {
            Some(FileKind::Memory)
        } else if has_members(start, &["schema", "findings"]) {
            Some(FileKind::Search)
        } else {
            has_members(start, &["schema", "decisions"]).then_some(FileKind::Tuning)
        }
    }

    /// The kind of the recording in the file.
    pub fn recording(self) -> RecordingKind {
        match self {
            FileKind::Search | FileKind::SearchRecord => RecordingKind::Search,
            FileKind::Calls => RecordingKind::Calls,
            FileKind::Trace => RecordingKind::Trace,
            FileKind::Memory => RecordingKind::Memory,
            FileKind::Tuning => RecordingKind::Tuning,
        }
    }

    /// The words of the command that shows the same, before the path.
    pub fn command(self) -> &'static str {
        match self {
            FileKind::Search => "jq -r '.sentences[]'",
            FileKind::SearchRecord => "veneer search --replay",
            FileKind::Calls => "veneer calls show",
            FileKind::Trace => "veneer trace show",
            FileKind::Memory => "veneer memory show",
            FileKind::Tuning => "jq -r '.decisions[]'",
        }
    }
}

/// Whether this is the beginning of a JSON object with these members. They may be in any order.
fn has_members(start: &[u8], names: &[&str]) -> bool {
    let text = String::from_utf8_lossy(start);
    let is_object = text.trim_start().starts_with('{');
    is_object
        && names
            .iter()
            .all(|name| text.contains(&format!("\"{name}\"")))
}

/// The problem of a file that its first bytes show.
pub fn problem_of_start(kind: FileKind, start: &[u8]) -> Option<ApiError> {
    match (kind, start) {
        (FileKind::Calls | FileKind::SearchRecord | FileKind::Memory, []) => Some(not_read(
            "the file is empty: its recording was killed before it wrote anything; record again",
        )),
        (FileKind::Calls, start) => file::read(start).err().map(|error| calls_problem(&error)),
        _ => None,
    }
}

/// Why a file of calls cannot be read.
pub fn calls_problem(error: &ReadError) -> ApiError {
    let text = error.to_string();
    match error {
        ReadError::OtherFormat => not_read(&format!(
            "{text}, or its beginning is damaged; name a file that `veneer calls -o` wrote"
        )),
        _ => not_read(&text),
    }
}

/// An error about the content of a file. The text is the problem, `; ` and the remedy.
pub fn not_read(text: &str) -> ApiError {
    ApiError::of_text("not-read", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_decide() {
        let kind = |name: &str, start: &[u8]| FileKind::of_start(Path::new(name), start);
        assert_eq!(kind("x", b"veneerCG\x01\0"), Some(FileKind::Calls));
        assert_eq!(kind("x.calls", b"\0\0"), Some(FileKind::Calls));
        let record = b"{\"veneer_search_record\":{\"version\":1}}";
        assert_eq!(kind("x", record), Some(FileKind::SearchRecord));
        let result = b"\n{\n  \"schema\": 1, \"findings\": [] }";
        assert_eq!(kind("x.json", result), Some(FileKind::Search));
        assert_eq!(kind("x.json", b"[{\"schema\": 1, \"findings\": 2}]"), None);
        assert_eq!(kind("x.json", b"{}"), None);
        assert_eq!(kind("x", b"VNRMEM\r\n\x01\0"), Some(FileKind::Memory));
        assert_eq!(kind("x.vmem", b""), Some(FileKind::Memory));
        let tuned = b"{\n  \"schema\": 1,\n  \"decisions\": []\n}";
        assert_eq!(kind("x.json", tuned), Some(FileKind::Tuning));
    }

    #[test]
    fn a_start_tells_what_is_wrong() {
        let problem =
            |start: &[u8]| problem_of_start(FileKind::Calls, start).map(|one| one.problem);
        let mut header = Vec::new();
        file::write(&veneer_calls::CallProfile::new(), &mut header).unwrap();
        assert_eq!(problem(&header), None);
        assert!(problem(b"").unwrap().contains("empty"));
        assert!(
            problem(b"no calls at all")
                .unwrap()
                .contains("no call profile")
        );
        let newer = problem_of_start(FileKind::Calls, &newer_file()).unwrap();
        assert!(newer.problem.contains("version 2"), "{newer:?}");
        assert_eq!(newer.remedy, "use a newer veneer");
    }

    /// The header of a file of the next major version, which has the checksum of its first 12 bytes.
    fn newer_file() -> Vec<u8> {
        let mut header = Vec::from(MAGIC);
        header.extend([2, 0, 0, 0]);
        let checksum = crc32fast::hash(&header);
        header.extend(checksum.to_le_bytes());
        header
    }
}
