//! Reads the result of a recording from its file, as JSON for the page. The same JSON comes from
//! `veneer calls show --json`, `veneer search --json` and `veneer tune --json`. That of a memory profile
//! is the one of `veneer memory show --json` with the rows of all views.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use veneer_calls::file::{self as calls_file, Ending, ReadResult};
use veneer_calls::{Selection, output};
use veneer_experiments::TuningReport;
use veneer_memory::profile::{Dimension, ProfileFile, rows_json};
use veneer_search::outcome::Outcome;

use super::kind::{FileKind, calls_problem, not_read};
use crate::page::api_error::ApiError;

/// The most bytes of a result.
const MAX_RESULT_BYTES: u64 = 512 << 20;

/// The result in an open file. `name` is for messages.
///
/// # Errors
/// The file is damaged, cut or of a newer version, so that nothing of it can be shown.
pub fn read(kind: FileKind, file: File, name: &str, veneer: &Path) -> Result<Vec<u8>, ApiError> {
    match kind {
        FileKind::Calls => calls(file, name),
        FileKind::Memory => memory(file, name),
        FileKind::Search => checked::<Outcome>(file, &SEARCH),
        FileKind::Tuning => checked::<TuningReport>(file, &TUNING),
        FileKind::SearchRecord => replayed(file, name, veneer),
        FileKind::Trace => Err(ApiError::unknown("single result in a trace")),
    }
}

fn calls(file: File, name: &str) -> Result<Vec<u8>, ApiError> {
    let read = calls_file::read(BufReader::new(file)).map_err(|error| calls_problem(&error))?;
    let incomplete = missing(&read, name);
    let mut profile = read.profile;
    for text in incomplete {
        profile.add_info("incomplete", &text);
    }
    let mut to = Bounded::default();
    match output::json::write(&Selection::all(&profile), &mut to) {
        Ok(()) => Ok(to.bytes),
        Err(_) if to.is_full => Err(too_large()),
        Err(error) => Err(not_read(&error.to_string())),
    }
}

/// The parts of a file that are not shown, in words.
fn missing(read: &ReadResult, name: &str) -> Vec<String> {
    let mut all = Vec::new();
    match read.ending {
        Ending::Complete => {}
        Ending::Cut { at } => all.push(format!(
            "{name} ends after {at} bytes without its end record: the recording was killed, or the file was cut. What is there is shown."
        )),
        Ending::Damaged { at, damage } => all.push(format!(
            "{name} is damaged from byte {at} on: {damage}. What is before is shown."
        )),
    }
    if read.unknown_chunks > 0 {
        all.push(format!(
            "{name} was written by a newer veneer; {} parts of it are not shown. Use a newer veneer.",
            read.unknown_chunks
        ));
    }
    all
}

/// A result that is JSON with a schema.
struct JsonResult {
    /// The command that makes it.
    command: &'static str,
    /// The newest schema that this version reads.
    schema: u32,
    /// The remedy for a file that cannot be read.
    remedy: &'static str,
}

const SEARCH: JsonResult = JsonResult {
    command: "veneer search --json",
    schema: veneer_search::outcome::SCHEMA,
    remedy: "search again",
};

const TUNING: JsonResult = JsonResult {
    command: "veneer tune --json",
    schema: veneer_experiments::SCHEMA,
    remedy: "run the command again",
};

/// The version of a result, which a newer one has too.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// The text of a JSON result that has the members of `T`.
fn checked<T: DeserializeOwned>(file: File, of: &JsonResult) -> Result<Vec<u8>, ApiError> {
    let (command, remedy) = (of.command, of.remedy);
    let mut bytes = Vec::new();
    let read = file.take(MAX_RESULT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| not_read(&format!("the file cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_RESULT_BYTES {
        return Err(too_large());
    }
    let problem = |error: serde_json::Error| match error.is_eof() {
        true => not_read(&format!(
            "the file ends in the middle of the result: it was cut, or its command was killed; {remedy}"
        )),
        false => not_read(&format!(
            "this is no result of `{command}`, or it is damaged: {error}; {remedy}"
        )),
    };
    let version: Version = serde_json::from_slice(&bytes).map_err(problem)?;
    if version.schema > of.schema {
        return Err(not_read(&format!(
            "the result has schema {}, and this veneer reads schema {}; use a newer veneer",
            version.schema, of.schema
        )));
    }
    // The page gets the text of the file, because a result may have more members than this version knows.
    serde_json::from_slice::<T>(&bytes).map_err(problem)?;
    Ok(bytes)
}

fn memory(file: File, name: &str) -> Result<Vec<u8>, ApiError> {
    let read = ProfileFile::read(file).map_err(|error| {
        not_read(&format!(
            "{error}; name a file that `veneer memory simulate -o` wrote, or measure again"
        ))
    })?;
    let mut profile = read.profile;
    // A report that is sent to somebody has no path of this machine.
    let program = Path::new(&profile.program).file_name();
    if let Some(program) = program.map(|name| name.to_string_lossy().into_owned()) {
        profile.program = program;
    }
    if read.is_truncated {
        profile.notes.push(format!(
            "{name} ends early: its writer was killed or has not finished. The rows before the end are shown."
        ));
    }
    if !read.skipped.is_empty() {
        profile.notes.push(format!(
            "{name} was written by a newer veneer; these parts are not shown: {}. Use a newer veneer.",
            read.skipped.join(", ")
        ));
    }
    let views = Dimension::ALL.map(|(name, by)| (name.to_owned(), rows_json(&profile.view(by))));
    let mut json = profile.to_json("", &[]);
    json["views"] = Value::Object(Map::from_iter(views));
    let mut to = Bounded::default();
    match serde_json::to_writer(&mut to, &json) {
        Ok(()) => Ok(to.bytes),
        Err(_) if to.is_full => Err(too_large()),
        Err(error) => Err(not_read(&error.to_string())),
    }
}

/// Repeats the search of a record. The command reads the open file, whatever its name means by now.
fn replayed(file: File, name: &str, veneer: &Path) -> Result<Vec<u8>, ApiError> {
    const INPUT: &str = "/dev/stdin";
    let output = Command::new(veneer)
        .args(["search", "--replay", INPUT, "--json"])
        .stdin(Stdio::from(file))
        .output();
    let output = output.map_err(|error| {
        ApiError::of_text("not-started", &format!("`veneer` cannot run: {error}"))
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).replace(INPUT, name);
    let said = said.trim();
    Err(not_read(said.strip_prefix("veneer: ").unwrap_or(said)))
}

fn too_large() -> ApiError {
    ApiError::of_text(
        "too-large",
        "the result is larger than 512 MiB; use the command below in a terminal",
    )
}

/// Bytes up to [`MAX_RESULT_BYTES`].
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + more.len()) as u64 > MAX_RESULT_BYTES {
            self.is_full = true;
            return Err(io::Error::other("the result is too large"));
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Seek;
    use veneer_calls::CallProfile;
    use veneer_memory::References;
    use veneer_memory::profile::{AccessRow, MemoryProfile, Site};

    fn file_with(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    fn read_bytes(kind: FileKind, bytes: &[u8]) -> Result<Value, ApiError> {
        let read = read(kind, file_with(bytes), "x", Path::new("/nowhere"));
        read.map(|bytes| serde_json::from_slice(&bytes).unwrap())
    }

    fn calls_file_of(key: &str) -> Vec<u8> {
        let mut profile = CallProfile::new();
        profile.add_info("pid", key);
        calls_file::write(&profile, Vec::new()).unwrap()
    }

    #[test]
    fn each_beginning_of_a_calls_file_is_shown_or_says_why_not() {
        let bytes = calls_file_of("4711");
        let whole = read_bytes(FileKind::Calls, &bytes).unwrap();
        assert_eq!(whole["info"]["pid"], json!(["4711"]));
        assert_eq!(whole["info"].get("incomplete"), None);
        let mut shown = 0;
        for length in 0..bytes.len() {
            match read_bytes(FileKind::Calls, &bytes[..length]) {
                Ok(part) => {
                    shown += 1;
                    let text = part["info"]["incomplete"][0].as_str().unwrap();
                    assert!(text.contains("What is there is shown"), "{text}");
                }
                Err(error) => assert!(length < 16 && !error.remedy.is_empty(), "{error:?}"),
            }
        }
        assert!(shown > 20, "{shown}");
        let mut damaged = bytes.clone();
        damaged[30] ^= 1;
        let part = read_bytes(FileKind::Calls, &damaged).unwrap();
        let text = part["info"]["incomplete"][0].as_str().unwrap();
        assert!(text.starts_with("x is damaged from byte 16 on"), "{text}");
    }

    #[test]
    fn a_search_result_is_complete_or_says_why_not() {
        let result = json!({"schema": 1, "findings": [], "ruled_out": [], "not_looked_at": [],
            "cost": {"ceiling": 0.02, "share": 0.01}, "seconds": 1.0, "active": 0.9, "threshold": 0.05,
            "ended": null, "sentences": ["x"], "later": 7});
        let text = result.to_string();
        // Members that this version does not know reach the page.
        assert_eq!(
            read_bytes(FileKind::Search, text.as_bytes()).unwrap(),
            result
        );
        let cut = read_bytes(FileKind::Search, &text.as_bytes()[..text.len() / 2]).unwrap_err();
        assert!(cut.problem.contains("in the middle"), "{cut:?}");
        assert_eq!(cut.remedy, "search again");
        let newer = text.replace("\"schema\":1", "\"schema\":2");
        let newer = read_bytes(FileKind::Search, newer.as_bytes()).unwrap_err();
        assert_eq!(newer.remedy, "use a newer veneer");
        let other = read_bytes(FileKind::Search, b"{\"schema\":1,\"findings\":7}").unwrap_err();
        assert!(other.problem.contains("no result"), "{other:?}");
    }

    #[test]
    fn a_tuning_result_is_complete_or_says_why_not() {
        let decision = json!({"method": "a.B::m(int)", "transformation": "huge",
            "arguments": {"size": 9000, "goal": null}, "before": null, "after": null, "gain": null,
            "low": null, "high": null, "kept": false, "reason": "not tried", "later": 7});
        let result = json!({"schema": 1, "decisions": [decision]});
        let read = read_bytes(FileKind::Tuning, result.to_string().as_bytes()).unwrap();
        assert_eq!(read, result);
        let other = read_bytes(FileKind::Tuning, b"{\"schema\":1,\"decisions\":[7]}").unwrap_err();
        assert!(other.problem.contains("veneer tune --json"), "{other:?}");
        assert_eq!(other.remedy, "run the command again");
    }

    #[test]
    fn a_memory_profile_has_all_views_or_says_why_not() {
        let site = |line| Site {
            class: "a.B".into(),
            method: "m(int)".into(),
            line: Some(line),
            field: "".into(),
        };
        let row = |site, reads| AccessRow {
            site,
            references: References {
                reads,
                ..References::default()
            },
            ..AccessRow::default()
        };
        let profile = MemoryProfile {
            program: "/home/me/p".into(),
            sites: vec![site(1), site(2)],
            accesses: vec![row(0, 5), row(1, 7)],
            ..MemoryProfile::default()
        };
        let mut bytes = Vec::new();
        profile.write(&mut bytes).unwrap();
        let read = read_bytes(FileKind::Memory, &bytes).unwrap();
        assert_eq!(read["program"], "p");
        assert_eq!(read["views"]["method"][0]["reads"], 12);
        assert_eq!(read["views"]["line"].as_array().map(Vec::len), Some(2));
        assert_eq!(read["total"]["reads"], 12);
        let cut = read_bytes(FileKind::Memory, &bytes[..bytes.len() - 8]).unwrap();
        let note = cut["notes"][0].as_str().unwrap();
        assert!(note.starts_with("x ends early"), "{note}");
        let other = read_bytes(FileKind::Memory, b"VNRMEM\r\n\x09\x00").unwrap_err();
        assert!(!other.remedy.is_empty(), "{other:?}");
    }
}
