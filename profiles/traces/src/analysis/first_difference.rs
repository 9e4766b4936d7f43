//! The first point at which two traces of the same program do different things.
//!
//! The threads of both traces are paired by their names, in the order of their numbers. Each pair
//! is read in step. Only the sequence of nodes counts, and not their times.

use std::collections::HashMap;

use crate::error::TraceError;
use crate::format::word::{FIRST_INSTANT, FIRST_LONG, FIRST_LONG_INSTANT, kind};
use crate::query::method_text;
use crate::reader::{EventReader, Names, Step, ThreadTrace, Trace};

/// One side of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferenceSide {
    /// The number of the thread.
    pub thread: u32,
    /// The event: `enters shop.Desk::serve`, `returns`, `throws`, or `ends`.
    pub event: String,
    /// The time in nanoseconds since the origin of the trace.
    pub at_ns: u64,
}

/// The first difference of a pair of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the threads.
    pub name: String,
    /// The number of entries that both threads have before.
    pub entries: u64,
    /// The open nodes of both, the outermost first.
    pub path: Vec<String>,
    /// The event of the first trace; `None` if the first trace has no such thread.
    pub a: Option<DifferenceSide>,
    /// The event of the second trace; `None` if the second trace has no such thread.
    pub b: Option<DifferenceSide>,
}

/// The first differences of all threads that differ, in the order of the first trace's threads.
pub fn first_difference(a: &Trace, b: &Trace) -> Result<Vec<Difference>, TraceError> {
    let mut others: HashMap<String, Vec<u32>> = HashMap::new();
    for thread in b.threads.iter().rev() {
        let name = b.names.thread_name(thread.number);
        others.entry(name).or_default().push(thread.number);
    }
    let mut found = Vec::new();
    for thread in &a.threads {
        let name = a.names.thread_name(thread.number);
        let other = others.get_mut(&name).and_then(Vec::pop);
        let first = a.thread(thread.number)?;
        match other {
            Some(other) => {
                let second = b.thread(other)?;
                let pair = compare((a, &first), (b, &second), name);
                let pair = pair.map_err(|e| TraceError::io(&a.directory, e))?;
                found.extend(pair);
            }
            None => found.push(Difference {
                name,
                entries: 0,
                path: Vec::new(),
                a: Some(present(thread.number)),
                b: None,
            }),
        }
    }
    let mut only: Vec<(u32, String)> = others
        .into_iter()
        .flat_map(|(name, threads)| threads.into_iter().map(move |t| (t, name.clone())))
        .collect();
    only.sort();
    found.extend(only.into_iter().map(|(thread, name)| Difference {
        name,
        entries: 0,
        path: Vec::new(),
        a: None,
        b: Some(present(thread)),
    }));
    Ok(found)
}

fn present(thread: u32) -> DifferenceSide {
    DifferenceSide {
        thread,
        event: "has this thread".into(),
        at_ns: 0,
    }
}

/// An event of the comparison.
struct Compared {
    kind: u8,
    /// The text of a node that begins, and empty for an end.
    text: String,
    time: u64,
}

fn compare(
    (a, first): (&Trace, &ThreadTrace),
    (b, second): (&Trace, &ThreadTrace),
    name: String,
) -> std::io::Result<Option<Difference>> {
    let (mut left, mut right) = (first.events(0), second.events(0));
    let mut path: Vec<String> = Vec::new();
    let mut entries = 0;
    loop {
        let (one, other) = (next(&mut left, &a.names)?, next(&mut right, &b.names)?);
        match (&one, &other) {
            (None, None) => return Ok(None),
            (Some(one), Some(other)) if (one.kind, &one.text) == (other.kind, &other.text) => {
                if one.kind < FIRST_INSTANT {
                    entries += 1;
                    path.push(one.text.clone());
                } else {
                    path.pop();
                }
            }
            _ => {
                let side = |event: Option<Compared>, trace: &Trace, thread| DifferenceSide {
                    thread,
                    event: event.as_ref().map_or("ends".into(), describe),
                    at_ns: event.map_or(0, |e| trace.names.since_origin(e.time)),
                };
                return Ok(Some(Difference {
                    name,
                    entries,
                    path,
                    a: Some(side(one, a, first.thread)),
                    b: Some(side(other, b, second.thread)),
                }));
            }
        }
    }
}

fn describe(event: &Compared) -> String {
    match event.kind {
        kind::ENTRY => format!("enters {}", event.text),
        kind::THROW => "throws".into(),
        FIRST_LONG..FIRST_LONG_INSTANT => "returns".into(),
        _ => format!("begins {}", event.text),
    }
}

/// The next beginning or end of a node.
fn next(reader: &mut EventReader<'_>, names: &Names) -> std::io::Result<Option<Compared>> {
    loop {
        match reader.step()? {
            Step::End => return Ok(None),
            Step::Segment { .. } => {}
            Step::Event { kind, id, time } => {
                let is_begin = kind < FIRST_INSTANT;
                let is_end = (FIRST_LONG..FIRST_LONG_INSTANT).contains(&kind);
                if is_begin || is_end {
                    let slot = match kind {
                        kind::ENTRY | kind::COMPILATION => names.slot(id),
                        _ => 0,
                    };
                    let text = match is_begin {
                        true => method_text(names, kind, slot, id),
                        false => String::new(),
                    };
                    return Ok(Some(Compared { kind, text, time }));
                }
            }
        }
    }
}
