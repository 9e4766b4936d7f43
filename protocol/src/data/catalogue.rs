//! The catalogue: what each counter and each log point stands for, appended while the JVM runs.
//!
//! ```text
//!   1c291ca3 {"run":{…}}⏎            a line: the CRC-32 of the text behind it, a space, a record as JSON
//!   90b2f1d0 {"instrument":{…}}⏎
//!   5f0e88c1 {"stands":{…}}⏎         written before the first count at these points can happen
//!   77aa01▯                          the last line may be torn, where the process was killed while it wrote
//! ```
//!
//! Only the last line may be torn; anything else that does not fit its checksum is damage, and said.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veneer_frequency::Flow;

use super::DataError;
use super::checksum::crc32;
use super::layout::{CATALOGUE, Rings, Shards};
use crate::report::{Kind, Patch, Problem, Readings};

/// The format that is written here.
const FORMAT: u32 = 2;
/// The most nodes that a method's graph can have.
const NODES: u32 = 1 << 16;

/// One record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    /// The first record.
    Run {
        /// The format of the directory.
        format: u32,
        /// The agent's version.
        agent: String,
        /// Process id, as the JVM knows it.
        pid: u32,
        /// `java.vm.name`.
        name: String,
        /// `java.vm.version`.
        version: String,
        /// Milliseconds since 1970 when the agent began.
        began_ms: u64,
        /// `System.nanoTime()` when the agent began.
        began_ns: u64,
    },
    /// An instrument was asked for.
    Instrument {
        /// Its number: 7 for `i7`.
        id: u32,
        /// The name that the plan gave, or one made from kind and pattern.
        name: String,
        /// What it measures.
        kind: Kind,
        /// The plan.
        plan: String,
    },
    /// It stands at these points of a method from now on.
    Stands {
        /// The instrument.
        id: u32,
        /// With dots.
        class: String,
        /// Name and descriptor.
        method: String,
        /// The points.
        points: Vec<Stand>,
        /// The flow graph, where the points are its nodes (or, with a `t`, its edges) and follow from its counters. What their own
        /// counters say comes on top: they count while the graph is edited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<Flow>,
    },
    /// It could not be put into this method after all.
    Leaves {
        /// The instrument.
        id: u32,
        /// With dots.
        class: String,
        /// Name and descriptor.
        method: String,
    },
    /// It was taken off; its figures are final.
    Detached {
        /// The instrument.
        id: u32,
        /// Of each point, by its first counter.
        readings: Vec<(u32, Readings)>,
    },
    /// Classes were unloaded; the figures of its points there are final, and their counters serve others from here on.
    Buried {
        /// The instrument.
        id: u32,
        /// Of each point, by its first counter.
        readings: Vec<(u32, Readings)>,
    },
    /// A flow graph was edited.
    Patch(Patch),
    /// The edit was taken back.
    Undone {
        /// For instance `p7`.
        id: String,
    },
    /// Something went wrong, and did not reach the application.
    Problem(Problem),
    /// The JVM came to its end in good order.
    Ended {},
}

/// A point of an instrument.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stand {
    /// The fragment, where the point is not the method.
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<u32>,
    /// For an edge: the fragment to which it leads.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u32>,
    /// For an instruction: what it does.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The source line.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u16>,
    /// The first counter; of a log, the number of its point.
    #[serde(rename = "s")]
    pub slot: u32,
    /// What count and total stood at when the point was made.
    #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
    pub base: [u64; 2],
    /// Names of logged values.
    #[serde(rename = "v", default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

fn is_zero(base: &[u64; 2]) -> bool {
    *base == [0, 0]
}

/// The line of a record.
pub fn encode(record: &Record) -> Result<Vec<u8>, serde_json::Error> {
    let text = serde_json::to_vec(record)?;
    let mut line = format!("{:08x} ", crc32(&text)).into_bytes();
    line.extend_from_slice(&text);
    line.push(b'\n');
    Ok(line)
}

/// The record of the catalogue's beginning.
impl Record {
    /// With the format that is written here.
    pub fn run(pid: u32, name: String, version: String, began_ms: u64, began_ns: u64) -> Record {
        Record::Run {
            format: FORMAT,
            agent: env!("CARGO_PKG_VERSION").into(),
            pid,
            name,
            version,
            began_ms,
            began_ns,
        }
    }
}

/// A point with the method that it is in.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// With dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// The point.
    pub at: Stand,
    /// See [`Record::Stands`].
    pub flow: Option<Arc<Flow>>,
    /// Its final figures, where the instrument was taken off.
    pub last: Option<Readings>,
}

/// An instrument, put together from its records.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its number.
    pub id: u32,
    /// As tables call it.
    pub name: String,
    /// What it measures.
    pub kind: Kind,
    /// The plan.
    pub plan: String,
    /// Not taken off.
    pub attached: bool,
    /// Its points.
    pub points: Vec<Standing>,
}

/// A whole catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    /// Process id, as the JVM knew it.
    pub pid: u32,
    /// `java.vm.name`.
    pub name: String,
    /// `java.vm.version`.
    pub version: String,
    /// Milliseconds since 1970 when the agent began.
    pub began_ms: u64,
    /// `System.nanoTime()` then.
    pub began_ns: u64,
    /// In order of attachment.
    pub instruments: Vec<Recorded>,
    /// Edits, undone ones too.
    pub patches: Vec<Patch>,
    /// Errors of plans and of the agent.
    pub problems: Vec<Problem>,
    /// The JVM came to its end in good order.
    pub ended: bool,
    /// The last record is torn.
    pub torn: bool,
}

/// Reads the catalogue of a data directory.
pub fn read_catalogue(directory: &Path) -> Result<Catalogue, DataError> {
    let path = directory.join(CATALOGUE);
    let file = File::open(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => DataError::Nothing(directory.to_owned()),
        _ => DataError::Unreadable {
            path: path.clone(),
            source,
        },
    })?;
    let mut reader = BufReader::new(file);
    let mut all: Option<Catalogue> = None;
    let mut torn = false;
    for number in 1.. {
        let mut line = Vec::new();
        let read = reader.read_until(b'\n', &mut line);
        let length = read.map_err(|source| DataError::Unreadable {
            path: path.clone(),
            source,
        })?;
        if length == 0 {
            break;
        }
        if line.pop() != Some(b'\n') {
            torn = true;
            break;
        }
        let damaged = |reason: String| DataError::Damaged {
            path: path.clone(),
            record: number,
            reason,
        };
        let record = decode(&line).map_err(damaged)?;
        match (&mut all, record) {
            (None, record) => {
                all = Some(begin(&path, record).map_err(|e| {
                    e.unwrap_or_else(|| damaged("the first record is no `run`".into()))
                })?)
            }
            (Some(catalogue), record) => catalogue.take(record).map_err(damaged)?,
        }
    }
    let mut catalogue = all.ok_or_else(|| DataError::Truncated {
        path: path.clone(),
        expected: 1,
        found: 0,
    })?;
    catalogue.torn = torn;
    Ok(catalogue)
}

fn decode(line: &[u8]) -> Result<Record, String> {
    let (sum, text) = line
        .split_at_checked(9)
        .ok_or("it is too short for a record")?;
    let sum = std::str::from_utf8(sum)
        .ok()
        .and_then(|sum| sum.strip_suffix(' '))
        .and_then(|sum| u32::from_str_radix(sum, 16).ok())
        .ok_or("it does not begin with a checksum")?;
    if crc32(text) != sum {
        return Err("its checksum does not fit".into());
    }
    serde_json::from_slice(text).map_err(|error| format!("it is not understood: {error}"))
}

fn begin(path: &Path, record: Record) -> Result<Catalogue, Option<DataError>> {
    let Record::Run {
        format,
        pid,
        name,
        version,
        began_ms,
        began_ns,
        ..
    } = record
    else {
        return Err(None);
    };
    if format != FORMAT {
        return Err(Some(DataError::Format {
            path: PathBuf::from(path),
            found: format,
            expected: FORMAT,
        }));
    }
    Ok(Catalogue {
        pid,
        name,
        version,
        began_ms,
        began_ns,
        instruments: Vec::new(),
        patches: Vec::new(),
        problems: Vec::new(),
        ended: false,
        torn: false,
    })
}

impl Catalogue {
    fn instrument(&mut self, id: u32) -> Result<&mut Recorded, String> {
        let found = self.instruments.iter_mut().rev().find(|one| one.id == id);
        found.ok_or_else(|| format!("it is about an instrument i{id} that was never attached"))
    }

    fn take(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Run { .. } => return Err("a second `run`".into()),
            Record::Instrument {
                id,
                name,
                kind,
                plan,
            } => self.instruments.push(Recorded {
                id,
                name,
                kind,
                plan,
                attached: true,
                points: Vec::new(),
            }),
            Record::Stands {
                id,
                class,
                method,
                points,
                flow,
            } => {
                let instrument = self.instrument(id)?;
                let room = match instrument.kind {
                    Kind::Counter | Kind::Code => Shards::SLOTS - 1,
                    Kind::Timer => Shards::SLOTS - 4,
                    Kind::Log => Rings::POINTS - 1,
                };
                if let Some(beyond) = points.iter().find(|p| u64::from(p.slot) > room) {
                    return Err(format!("there is no counter {}", beyond.slot));
                }
                if let Some(flow) = &flow {
                    if flow.nodes > NODES {
                        return Err(format!("a method of {} fragments", flow.nodes));
                    }
                    if let Some(beyond) = flow.counters().find(|c| u64::from(*c) >= Shards::SLOTS) {
                        return Err(format!("there is no counter {beyond}"));
                    }
                }
                let flow = flow.map(Arc::new);
                instrument
                    .points
                    .extend(points.into_iter().map(|at| Standing {
                        class: class.clone(),
                        method: method.clone(),
                        at,
                        flow: flow.clone(),
                        last: None,
                    }));
            }
            Record::Leaves { id, class, method } => self
                .instrument(id)?
                .points
                .retain(|p| p.last.is_some() || p.class != class || p.method != method),
            Record::Detached { id, readings } => {
                let instrument = self.instrument(id)?;
                instrument.attached = false;
                let last: HashMap<u32, Readings> = readings.into_iter().collect();
                for point in instrument.points.iter_mut().filter(|p| p.last.is_none()) {
                    point.last = last.get(&point.at.slot).copied();
                }
            }
            Record::Buried { id, readings } => {
                let last: HashMap<u32, Readings> = readings.into_iter().collect();
                let points = &mut self.instrument(id)?.points;
                for point in points.iter_mut().filter(|p| p.last.is_none()) {
                    point.last = last.get(&point.at.slot).copied();
                }
            }
            Record::Patch(patch) => self.patches.push(patch),
            Record::Undone { id } => {
                for patch in self.patches.iter_mut().filter(|patch| patch.id == id) {
                    patch.active = false;
                }
            }
            Record::Problem(problem) => self.problems.push(problem),
            Record::Ended {} => self.ended = true,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        let counter = |slot| Stand {
            fragment: Some(slot),
            what: None,
            slot,
            ..Stand::default()
        };
        vec![
            Record::run(7, "VM".into(), "17".into(), 1, 2),
            Record::Instrument {
                id: 1,
                name: "hits".into(),
                kind: Kind::Counter,
                plan: "p".into(),
            },
            Record::Stands {
                id: 1,
                class: "A".into(),
                method: "m()V".into(),
                points: vec![counter(0), counter(1)],
                flow: None,
            },
            Record::Stands {
                id: 1,
                class: "A".into(),
                method: "n()V".into(),
                points: vec![counter(2)],
                flow: None,
            },
            Record::Leaves {
                id: 1,
                class: "A".into(),
                method: "m()V".into(),
            },
            Record::Detached {
                id: 1,
                readings: vec![(2, Readings::Count { hits: 3 })],
            },
            Record::Ended {},
        ]
    }

    fn write(directory: &Path, bytes: &[u8]) {
        std::fs::write(directory.join(CATALOGUE), bytes).unwrap();
    }

    /// A directory of this test's own.
    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("veneer-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn bytes(records: &[Record]) -> Vec<u8> {
        records.iter().flat_map(|r| encode(r).unwrap()).collect()
    }

    #[test]
    fn records_come_together_again() {
        let directory = directory("catalogue");
        write(&directory, &bytes(&records()));
        let catalogue = read_catalogue(&directory).unwrap();
        let one = &catalogue.instruments[0];
        assert_eq!((one.points.len(), one.attached), (1, false));
        assert_eq!(one.points[0].method, "n()V");
        assert_eq!(one.points[0].last, Some(Readings::Count { hits: 3 }));
        assert!(catalogue.ended && !catalogue.torn);
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn cut_anywhere_it_reads_up_to_there() {
        let directory = directory("cut");
        let all = bytes(&records());
        for length in 0..all.len() {
            write(&directory, &all[..length]);
            match read_catalogue(&directory) {
                Ok(catalogue) => {
                    assert!(!catalogue.ended);
                    assert_eq!(catalogue.torn, all[length - 1] != b'\n', "{length}");
                }
                Err(DataError::Truncated { .. }) => {
                    assert!(!all[..length].contains(&b'\n'), "{length}");
                }
                Err(other) => panic!("{length}: {other}"),
            }
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn damage_is_named_wherever_it_is() {
        let directory = directory("damage");
        let all = bytes(&records());
        for at in 0..all.len() {
            let mut bad = all.clone();
            bad[at] ^= 0x20;
            write(&directory, &bad);
            match read_catalogue(&directory) {
                Err(DataError::Damaged { record, .. }) => {
                    let expected = 1 + all[..at].iter().filter(|b| **b == b'\n').count() as u64;
                    assert_eq!(record, expected, "byte {at}");
                }
                // The last line feed is gone, or the case of a hexadecimal digit.
                Ok(catalogue) => assert!(catalogue.torn || all[at].is_ascii_hexdigit(), "{at}"),
                Err(other) => panic!("{at}: {other}"),
            }
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn records_that_make_no_sense_are_refused() {
        let directory = directory("sense");
        let run = Record::run(7, "VM".into(), "17".into(), 1, 2);
        let detached = |id, readings| Record::Detached { id, readings };
        let beyond = Stand {
            slot: u32::MAX,
            ..Stand::default()
        };
        let instrument = records()[1].clone();
        let stands = Record::Stands {
            id: 1,
            class: "A".into(),
            method: "m()V".into(),
            points: vec![beyond],
            flow: None,
        };
        for (all, word) in [
            (vec![Record::Ended {}], "no `run`"),
            (vec![run.clone(), run.clone()], "second"),
            (vec![run.clone(), detached(3, vec![])], "i3"),
            (vec![run, instrument, stands], "no counter"),
        ] {
            write(&directory, &bytes(&all));
            let error = read_catalogue(&directory).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
