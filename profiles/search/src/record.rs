//! Records: the observations of a search as lines of text, for a later replay.
//!
//! ```text
//! {"veneer_search_record":{"version":1,"settings":{"threshold":0.05,…}}}
//! {"method":{"id":0,"name":{"class":"shop.Desk","method":"serve","file":"Desk.java"}}}
//! {"group":{"id":0,"name":"http-*"}}
//! {"stack":{"id":0,"frames":[{"method":1,"line":12},{"method":0,"line":41}]}}
//! {"samples":{"cost_nanos":81000,"threads":[{"group":0,"stack":0,"cause":"monitor"}]}}
//! {"window_end":{"nanos":100000000,"active_nanos":400000000}}
//! {"fact":{"method":0,"line":41,"causes":["monitor"],"source":"holder","text":"…"}}
//! {"end":{"lines":7}}
//! ```
//!
//! Each line is one JSON object with one key, the kind of the line.
//!
//! * The first line names the version and the settings of the search.
//! * The lines `stack` and `samples` are the observation [`Observation::Stacks`]: most threads have
//!   the same stack again and again, so a stack has a line of its own before its first use.
//! * The line `end` is the last one and counts the lines before it. A record without it was cut off.
//! * All other kinds are observations in the form that [`Observation`] has in JSON.
//!
//! Version 1 never gets another meaning. A reader refuses a newer version, and a kind of line that it
//! does not know.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::cause::Cause;
use crate::observation::{Frame, Observation, StackSample};
use crate::place::GroupId;
use crate::settings::{Settings, SettingsError};

/// The version of the format that this module writes, and the newest one that it reads.
pub const VERSION: u64 = 1;
/// The most different stacks that a writer numbers once. Later stacks get a new line for each use,
/// because the writer's memory is bounded.
const MAX_KEPT_STACKS: usize = 100_000;
/// The key of the first line.
const HEADER: &str = "veneer_search_record";
/// The kinds of lines that are observations in the JSON form of [`Observation`].
const OBSERVATIONS: [&str; 12] = [
    "method",
    "group",
    "roots",
    "callees",
    "refused",
    "sampling_refused",
    "reading",
    "overhead",
    "window_end",
    "fact",
    "not_seen",
    "ended",
];

/// Why a record cannot be read. The number of a line counts from 1.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The first line is no header.
    #[error("it is no record of a search: its first line has no `{}`", HEADER)]
    NoRecord,
    /// A newer version wrote the record.
    #[error(
        "it has version {version}, and this command reads version {}; use a newer command",
        VERSION
    )]
    Newer {
        /// The version of the record.
        version: u64,
    },
    /// The settings in the first line are not valid.
    #[error("line 1 has invalid settings: {0}")]
    Settings(#[from] SettingsError),
    /// A line is not as this format demands.
    #[error("line {line} is damaged: {reason}")]
    Damaged {
        /// The number of the line.
        line: u64,
        /// The reason, as users read it.
        reason: String,
    },
}

/// The content of the first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Header {
    version: u64,
    settings: Settings,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StackLine {
    id: u32,
    frames: Vec<Frame>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SamplesLine {
    cost_nanos: u64,
    threads: Vec<SampledThread>,
}

/// A sample whose frames are those of a stack with a line of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SampledThread {
    group: GroupId,
    stack: u32,
    cause: Cause,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    idle: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct EndLine {
    lines: u64,
}

/// A line that is no observation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum OwnLine {
    VeneerSearchRecord(Header),
    Stack(StackLine),
    Samples(SamplesLine),
    End(EndLine),
}

/// Turns observations into the lines of a record.
#[derive(Clone, Debug, Default)]
pub struct RecordWriter {
    stacks: HashMap<Vec<Frame>, u32>,
    next_stack: u32,
    lines: u64,
}

impl RecordWriter {
    /// Returns a writer and the first line.
    ///
    /// # Errors
    /// The settings cannot be written as JSON.
    pub fn begin(settings: &Settings) -> Result<(RecordWriter, String), serde_json::Error> {
        let mut writer = RecordWriter::default();
        let header = Header {
            version: VERSION,
            settings: settings.clone(),
        };
        let mut text = String::new();
        writer.push(&mut text, &OwnLine::VeneerSearchRecord(header))?;
        Ok((writer, text))
    }

    /// Returns the lines of an observation.
    ///
    /// # Errors
    /// The observation cannot be written as JSON.
    pub fn lines(&mut self, observation: &Observation) -> Result<String, serde_json::Error> {
        let mut text = String::new();
        match observation {
            Observation::Stacks {
                samples,
                cost_nanos,
            } => {
                let mut threads = Vec::with_capacity(samples.len());
                for sample in samples {
                    threads.push(SampledThread {
                        group: sample.group,
                        stack: self.stack(&mut text, &sample.frames)?,
                        cause: sample.cause,
                        idle: sample.idle,
                    });
                }
                let line = SamplesLine {
                    cost_nanos: *cost_nanos,
                    threads,
                };
                self.push(&mut text, &OwnLine::Samples(line))?;
            }
            other => self.push(&mut text, other)?,
        }
        Ok(text)
    }

    /// Returns the last line.
    ///
    /// # Errors
    /// The line cannot be written as JSON.
    pub fn end(&mut self) -> Result<String, serde_json::Error> {
        let mut text = String::new();
        let lines = self.lines;
        self.push(&mut text, &OwnLine::End(EndLine { lines }))?;
        Ok(text)
    }

    /// Returns the number of a stack, which gets a line if it has none.
    fn stack(&mut self, text: &mut String, frames: &[Frame]) -> Result<u32, serde_json::Error> {
        if let Some(id) = self.stacks.get(frames) {
            return Ok(*id);
        }
        let id = self.next_stack;
        self.next_stack = self.next_stack.wrapping_add(1);
        let line = StackLine {
            id,
            frames: frames.to_vec(),
        };
        self.push(text, &OwnLine::Stack(line))?;
        if self.stacks.len() < MAX_KEPT_STACKS {
            self.stacks.insert(frames.to_vec(), id);
        }
        Ok(id)
    }

    fn push(&mut self, text: &mut String, line: &impl Serialize) -> Result<(), serde_json::Error> {
        text.push_str(&serde_json::to_string(line)?);
        text.push('\n');
        self.lines += 1;
        Ok(())
    }
}

/// Turns the lines of a record into observations.
#[derive(Clone, Debug)]
pub struct RecordReader {
    settings: Settings,
    stacks: HashMap<u32, Vec<Frame>>,
    lines: u64,
    is_complete: bool,
}

impl RecordReader {
    /// Reads the first line.
    ///
    /// # Errors
    /// The line is no header, a newer version wrote it, or its settings are not valid.
    pub fn begin(line: &str) -> Result<RecordReader, RecordError> {
        let header: Value = serde_json::from_str(line).map_err(|_| RecordError::NoRecord)?;
        let header = header.get(HEADER).ok_or(RecordError::NoRecord)?;
        let version = header.get("version").and_then(Value::as_u64);
        match version {
            Some(1..=VERSION) => {}
            Some(version) if version > VERSION => return Err(RecordError::Newer { version }),
            _ => return Err(RecordError::NoRecord),
        }
        let header: Header = parse(1, header.clone())?;
        header.settings.check()?;
        Ok(RecordReader {
            settings: header.settings,
            stacks: HashMap::new(),
            lines: 1,
            is_complete: false,
        })
    }

    /// Returns the settings of the recorded search.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the number of lines until now.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns whether the last line of the record was read.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Reads the next line. Lines about stacks and the last line are no observations.
    ///
    /// # Errors
    /// The line is not as the format demands.
    pub fn line(&mut self, line: &str) -> Result<Option<Observation>, RecordError> {
        let number = self.lines + 1;
        let damaged = |reason: String| RecordError::Damaged {
            line: number,
            reason,
        };
        if self.is_complete {
            return Err(damaged("the line before it is the last one".to_owned()));
        }
        let object: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| damaged(error.to_string()))?;
        let mut entries = object.into_iter();
        let (Some((kind, content)), None) = (entries.next(), entries.next()) else {
            return Err(damaged("it must have one key".to_owned()));
        };
        let observation = match kind.as_str() {
            "stack" => {
                let stack: StackLine = parse(number, content)?;
                self.stacks.insert(stack.id, stack.frames);
                None
            }
            "samples" => Some(self.samples(number, content)?),
            "end" => {
                let end: EndLine = parse(number, content)?;
                if end.lines != self.lines {
                    let reason = format!("it counts {} lines before it", end.lines);
                    return Err(damaged(reason));
                }
                self.is_complete = true;
                None
            }
            known if OBSERVATIONS.contains(&known) => {
                Some(parse(number, json!({ known: content }))?)
            }
            unknown => return Err(damaged(format!("it has the unknown kind `{unknown}`"))),
        };
        self.lines = number;
        Ok(observation)
    }

    fn samples(&self, number: u64, content: Value) -> Result<Observation, RecordError> {
        let line: SamplesLine = parse(number, content)?;
        let mut samples = Vec::with_capacity(line.threads.len());
        for thread in line.threads {
            let Some(frames) = self.stacks.get(&thread.stack) else {
                return Err(RecordError::Damaged {
                    line: number,
                    reason: format!("no line before it declares the stack {}", thread.stack),
                });
            };
            samples.push(StackSample {
                group: thread.group,
                frames: frames.clone(),
                cause: thread.cause,
                idle: thread.idle,
            });
        }
        Ok(Observation::Stacks {
            samples,
            cost_nanos: line.cost_nanos,
        })
    }
}

/// Reads the content of a line.
fn parse<T: DeserializeOwned>(line: u64, content: Value) -> Result<T, RecordError> {
    serde_json::from_value(content).map_err(|error| RecordError::Damaged {
        line,
        reason: error.to_string(),
    })
}
