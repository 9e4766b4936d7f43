//! Pictures of a trace: its threads, and what each of them did in an interval.
//!
//! Times are nanoseconds since the beginning of the trace. Texts are sent once, in `names`.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use veneer_traces::Names;
use veneer_traces::analysis::{Timeline, TimelineBox, TimelineView, timeline};
use veneer_traces::format::word::kind;
use veneer_traces::query::{kind_text, method_text};
use veneer_traces::reader::ThreadTrace;

use super::api_error::ApiError;
use super::opened_trace::{notes, open, unreadable};

/// The most columns of a picture.
pub const MAX_COLUMNS: u64 = 8_000;
/// The most threads in an answer.
const MAX_THREADS: usize = 64;
/// Nodes at this depth and below are not drawn.
const MAX_DEPTH: u32 = 64;
/// The most events of a thread that are read for a picture. More are summarised.
const MAX_EVENTS: u64 = 1_000_000;

/// The wish of the page.
#[derive(Clone, Debug, Deserialize)]
pub struct TimelineQuery {
    pub from: u64,
    pub to: u64,
    pub columns: u64,
    /// Numbers of threads, separated by commas; the first ones if it is empty.
    #[serde(default)]
    pub threads: String,
}

/// The threads of a trace.
#[derive(Debug, Serialize)]
pub struct Threads {
    pub threads: Vec<ThreadRow>,
    /// The parts of the trace that cannot be shown, in words.
    pub notes: Vec<String>,
}

impl Threads {
    /// The first time and the one after the last.
    pub fn range(&self) -> (u64, u64) {
        let from = self.threads.iter().map(|thread| thread.from).min();
        let to = self.threads.iter().map(|thread| thread.to).max();
        (from.unwrap_or(0), to.unwrap_or(0) + 1)
    }
}

/// A thread of a trace.
#[derive(Debug, Serialize)]
pub struct ThreadRow {
    pub number: u32,
    pub name: String,
    pub from: u64,
    pub to: u64,
    /// The number of calls and other nodes.
    pub nodes: u64,
}

/// The calls of threads in an interval.
#[derive(Debug, Default, Serialize)]
pub struct Picture {
    /// The texts of boxes.
    pub names: Vec<String>,
    pub threads: Vec<PictureOfThread>,
}

/// The calls of one thread in an interval.
#[derive(Debug, Serialize)]
pub struct PictureOfThread {
    pub number: u32,
    /// Calls, or `None` if the interval has too many events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boxes: Option<Vec<PictureBox>>,
    /// Parts of the interval in place of calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PicturePart>,
}

/// A call, or several narrow ones.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct PictureBox {
    pub depth: u32,
    pub from: u64,
    pub to: u64,
    /// The position of its text in `names`.
    pub name: usize,
    pub kind: &'static str,
    pub calls: u64,
    /// The thread that owned the monitor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<u64>,
    /// Whether it had not ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

/// A part of an interval.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct PicturePart {
    pub from: u64,
    pub to: u64,
    pub events: u64,
    pub depth: u32,
    /// The position of the busiest method in `names`.
    pub name: usize,
}

/// The threads of a trace, and what of it is missing. The first time, this builds the index.
///
/// # Errors
/// The trace cannot be read.
pub fn threads(directory: &Path) -> Result<Threads, ApiError> {
    let trace = open(directory)?;
    let threads = trace.all_threads().map_err(|error| unreadable(&error))?;
    let notes = notes(&trace, &threads);
    let mut rows = Vec::new();
    for thread in threads {
        let Some((from, to)) = thread.index.range() else {
            continue;
        };
        rows.push(ThreadRow {
            number: thread.thread,
            name: trace.names.thread_name(thread.thread),
            from: trace.names.since_origin(from),
            to: trace.names.since_origin(to),
            nodes: thread.index.nodes,
        });
    }
    Ok(Threads {
        threads: rows,
        notes,
    })
}

/// Returns the calls of threads in an interval.
///
/// # Errors
/// The trace cannot be read, or the interval is empty.
pub fn picture(directory: &Path, query: &TimelineQuery) -> Result<Picture, ApiError> {
    if query.to <= query.from || query.columns == 0 {
        return Err(ApiError::bad_request("the interval is empty"));
    }
    let trace = open(directory)?;
    let names = &trace.names;
    let ticks = |ns: u64| names.clock.ticks.saturating_add(names.clock.ticks_of(ns));
    let view = TimelineView {
        from: ticks(query.from),
        to: ticks(query.to),
        columns: query.columns.min(MAX_COLUMNS),
        max_depth: MAX_DEPTH,
        max_events: MAX_EVENTS,
    };
    let wanted: Vec<u32> = query
        .threads
        .split(',')
        .filter_map(|n| n.parse().ok())
        .collect();
    let numbers = trace.threads.iter().map(|thread| thread.number);
    let numbers = numbers.filter(|number| wanted.is_empty() || wanted.contains(number));
    let mut texts = Texts::default();
    let mut threads = Vec::new();
    for number in numbers.take(MAX_THREADS) {
        let thread = trace.thread(number).map_err(|error| unreadable(&error))?;
        threads.push(of_thread(&thread, names, &view, &mut texts)?);
    }
    Ok(Picture {
        names: texts.all,
        threads,
    })
}

fn of_thread(
    thread: &ThreadTrace,
    names: &Names,
    view: &TimelineView,
    texts: &mut Texts,
) -> Result<PictureOfThread, ApiError> {
    let seen = timeline(thread, names, view);
    let seen = seen.map_err(|error| {
        ApiError::of_text("not-read", &format!("the trace cannot be read: {error}"))
    })?;
    let mut picture = PictureOfThread {
        number: thread.thread,
        boxes: None,
        parts: Vec::new(),
    };
    match seen {
        Timeline::Calls(boxes) => {
            let boxes = boxes.iter().map(|one| of_box(one, names, texts));
            picture.boxes = Some(boxes.collect());
        }
        Timeline::Summary(parts) => {
            let parts = parts.iter().map(|part| PicturePart {
                from: names.since_origin(part.start),
                to: names.since_origin(part.end),
                events: part.events,
                depth: part.depth,
                name: texts.position(names, (kind::ENTRY, part.busiest, 0)),
            });
            picture.parts = parts.collect();
        }
    }
    Ok(picture)
}

fn of_box(one: &TimelineBox, names: &Names, texts: &mut Texts) -> PictureBox {
    PictureBox {
        depth: one.depth,
        from: names.since_origin(one.start),
        to: names.since_origin(one.end),
        name: texts.position(names, (one.kind, one.slot, one.id)),
        kind: kind_text(one.kind),
        calls: one.calls,
        owner: one.owner,
        open: one.is_open,
    }
}

/// The texts of an answer, each once.
#[derive(Debug, Default)]
struct Texts {
    all: Vec<String>,
    positions: HashMap<(u8, u32, u64), usize>,
}

impl Texts {
    fn position(&mut self, names: &Names, key: (u8, u32, u64)) -> usize {
        let all = &mut self.all;
        *self.positions.entry(key).or_insert_with(|| {
            all.push(method_text(names, key.0, key.1, key.2));
            all.len() - 1
        })
    }
}
