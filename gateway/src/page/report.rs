//! `veneer report --html`: recordings in one HTML file, with the modules of the page and the data inside.
//! It needs no server and sends no request.
//!
//! ```text
//!   recordings ─▶ files ─▶ result, timelines, comparison ─▶ data ─┐
//!   page/report.js and what it imports ─▶ bundle ─▶ import map ───┴▶ report.html
//! ```
//!
//! **Nothing of the data becomes markup.** The data are JSON in which `<` is written as an escape, and the
//! views show names as text only. The content policy allows the scripts of this file by their hashes, and
//! the modules, which are `data:` addresses.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::api_error::ApiError;
use super::bundle::{MissingFile, import_map, name_of, styles};
use super::files::{self, NamedFile};
use super::queries::{self, FIRST_QUERY};
use super::recordings::RecordingKind;
use super::timelines::{self, MAX_COLUMNS, TimelineQuery};
use super::{assets, trace_contexts, trace_difference};

const TEMPLATE: &str = include_str!("report.html");
/// The module that shows a report.
const ENTRY: &str = "report.js";
/// The licences of the modules from elsewhere.
const LICENCES: [&str; 2] = ["vendor/LICENSE-preact", "vendor/LICENSE-htm"];
/// The most bytes of the data. Browsers do not read longer texts.
const MAX_DATA_BYTES: usize = 256 << 20;
/// The most traces that are compared with each other.
const MAX_COMPARED: usize = 3;

/// The content of a report.
#[derive(Clone, Debug)]
pub struct ReportContent {
    /// The path of the command `veneer`.
    pub veneer: PathBuf,
    /// The version that the report shows.
    pub version: String,
    /// The recordings: files, traces, and folders with some.
    pub recordings: Vec<PathBuf>,
}

/// A report and the number of its recordings.
#[derive(Debug)]
pub struct WrittenReport {
    /// The HTML file.
    pub html: Vec<u8>,
    /// The number of recordings in it.
    pub recordings: usize,
}

/// Why there is no report. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A recording cannot be read.
    #[error("{path}: {text}", path = .path.display())]
    Recording {
        /// The file or the trace.
        path: PathBuf,
        /// The problem and the remedy.
        text: String,
    },
    /// The recordings have more data than a browser reads.
    #[error(
        "the recordings have more than {} MiB of data; make several reports, or record fewer methods",
        MAX_DATA_BYTES >> 20
    )]
    TooLarge,
    /// The program has not all files of the page.
    #[error(transparent)]
    Page(#[from] MissingFile),
    /// No process can be started.
    #[error("the report cannot be made: {0}")]
    System(#[from] std::io::Error),
}

/// Makes a report.
///
/// # Errors
/// A recording cannot be read, or there are too many data.
pub fn report(content: &ReportContent) -> Result<WrittenReport, ReportError> {
    let mut all = Vec::new();
    for path in &content.recordings {
        let named = files::named(path).map_err(|error| failed(path, &error))?;
        all.extend(named);
    }
    let mut parts = Vec::new();
    for file in &all {
        let part = recording(file, content)?;
        parts.push(part);
        if parts.iter().map(String::len).sum::<usize>() > MAX_DATA_BYTES {
            return Err(ReportError::TooLarge);
        }
    }
    let made = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let data = format!(
        "{{\"version\":{},\"made\":{},\"differences\":{},\"recordings\":[{}]}}",
        json!(content.version),
        made.map_or(0, |time| time.as_secs()),
        Value::Object(differences(&all)?),
        parts.join(",")
    );
    Ok(WrittenReport {
        html: page(&data)?.into_bytes(),
        recordings: all.len(),
    })
}

fn failed(path: &Path, error: &ApiError) -> ReportError {
    let text = match error.remedy.as_str() {
        "" => error.problem.clone(),
        remedy => format!("{}; {remedy}", error.problem),
    };
    ReportError::Recording {
        path: path.to_owned(),
        text,
    }
}

/// The data of a recording as JSON.
fn recording(file: &NamedFile, content: &ReportContent) -> Result<String, ReportError> {
    let at = |error: ApiError| failed(&file.path, &error);
    let mut row = json!(file.row);
    // The receiver has no folder of this machine, but may get the file.
    let path = file.path.to_string_lossy();
    row["folder"] = json!("this report");
    row["command"] = json!(file.row.command.replace(&*path, &file.row.file));
    if file.row.kind != RecordingKind::Trace {
        let result = file.result(&content.veneer).map_err(at)?;
        let result = String::from_utf8_lossy(&result);
        return Ok(format!("{{\"row\":{row},\"result\":{result}}}"));
    }
    let mut threads = timelines::threads(&file.path).map_err(at)?;
    threads.notes.push(format!(
        "The timeline of a report has {MAX_COLUMNS} columns. To zoom further, open the trace with `veneer serve --trace DIR`."
    ));
    let (from, to) = threads.range();
    let whole = TimelineQuery {
        from,
        to,
        columns: MAX_COLUMNS,
        threads: String::new(),
    };
    let timeline = match threads.threads.is_empty() {
        true => Value::Null,
        false => json!(timelines::picture(&file.path, &whole).map_err(at)?),
    };
    let contexts = trace_contexts::contexts(&file.path).map_err(at)?;
    let contexts = String::from_utf8_lossy(&contexts);
    let answer = first_answer(&content.veneer, &file.path)?;
    let query = format!("{{\"text\":{},\"answer\":{answer}}}", json!(FIRST_QUERY));
    Ok(format!(
        "{{\"row\":{row},\"threads\":{},\"timeline\":{timeline},\"contexts\":{contexts},\"query\":{query}}}",
        json!(threads)
    ))
}

/// The answer to the first query of a trace.
fn first_answer(veneer: &Path, trace: &Path) -> Result<String, ReportError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let answer = runtime.block_on(queries::run(veneer, trace, FIRST_QUERY));
    answer.map_err(|error| failed(trace, &error))
}

/// The comparisons of traces, if there are few of them.
fn differences(all: &[NamedFile]) -> Result<serde_json::Map<String, Value>, ReportError> {
    let traces = all
        .iter()
        .filter(|file| file.row.kind == RecordingKind::Trace);
    let traces: Vec<&NamedFile> = traces.collect();
    let mut found = serde_json::Map::new();
    if traces.len() > MAX_COMPARED {
        return Ok(found);
    }
    for before in &traces {
        for after in traces.iter().filter(|after| after.row.id != before.row.id) {
            let difference = trace_difference::difference(&before.path, &after.path);
            let difference = difference.map_err(|error| failed(&after.path, &error))?;
            let key = format!("{} {}", before.row.id, after.row.id);
            found.insert(key, json!(difference));
        }
    }
    Ok(found)
}

/// The HTML around the data.
fn page(data: &str) -> Result<String, MissingFile> {
    let map = import_map(ENTRY)?;
    let start = format!("import \"{}\";", name_of(ENTRY));
    let style = styles()?;
    let mut licences = String::new();
    for path in LICENCES {
        licences += &assets::text(path).ok_or_else(|| MissingFile::new(path))?;
        licences.push('\n');
    }
    let scripts = format!("{} {}", hash(&map), hash(&start));
    let parts = [
        ("scripts", scripts),
        ("style-hash", hash(&style)),
        ("style", style),
        ("map", map),
        // The texts have addresses in angle brackets.
        ("licences", licences.replace('<', "(").replace('>', ")")),
        // In JSON, this character is part of texts only.
        ("data", data.replace('<', "\\u003c")),
        ("start", start),
    ];
    Ok(filled(TEMPLATE, &parts))
}

/// Replaces `{name}` by parts. A part that has such a name in it is not searched again.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let part = after.split_once('}').and_then(|(name, end)| {
            let part = parts.iter().find(|(known, _)| *known == name);
            part.map(|(_, text)| (text, end))
        });
        match part {
            Some((text, end)) => {
                out.push_str(text);
                rest = end;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The source of a script or style in a content policy.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_is_searched_for_names() {
        let parts = [("a", "{b}".to_owned()), ("b", "2".to_owned())];
        assert_eq!(filled("x{a}y{b}{c}{", &parts), "x{b}y2{c}{");
    }

    #[test]
    fn names_cannot_end_the_element_of_the_data() {
        let html = page("{\"x\":\"</script><script>alert(1)</script><!--\"}").unwrap();
        assert!(html.contains("\\u003c/script>\\u003cscript>alert(1)"));
        // The scripts of the template and no other one.
        assert_eq!(html.matches("<script").count(), 4);
        assert_eq!(html.matches("</script>").count(), 4);
        assert!(!html.contains("<!--"));
    }

    #[test]
    fn a_search_result_becomes_a_report() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("found.json");
        let result = json!({"schema": 1, "findings": [], "ruled_out": [], "not_looked_at": [],
            "cost": {"ceiling": 0.02, "share": 0.01}, "seconds": 1.0, "active": 0.9, "threshold": 0.05,
            "ended": null, "sentences": ["</script>"]});
        std::fs::write(&path, result.to_string()).unwrap();
        let mut content = ReportContent {
            veneer: "/nowhere".into(),
            version: "1".into(),
            recordings: vec![path.clone()],
        };
        let report = report(&content).unwrap();
        assert_eq!(report.recordings, 1);
        let html = String::from_utf8(report.html).unwrap();
        assert!(
            html.contains("\"file\":\"found.json\""),
            "the name of the file is missing"
        );
        assert!(
            !html.contains(&place.path().display().to_string()),
            "a path is in the report"
        );
        content.recordings = vec![place.path().join("none")];
        let error = super::report(&content).unwrap_err().to_string();
        assert!(error.contains("none: "), "{error}");
    }
}
