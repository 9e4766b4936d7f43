//! The metadata journal (file `catalogue`): the point that each counter and each log point
//! measures. The agent appends a record whenever an instrument or patch changes.
//!
//! ```text
//!   1c291ca3 {"run":{…}}⏎            line: CRC-32 of the JSON text, a space, the record as JSON
//!   90b2f1d0 {"instrument":{…}}⏎
//!   5f0e88c1 {"stands":{…}}⏎         written before the first count at these points can happen
//!   77aa01▯                          torn: the process was killed while it wrote the last line
//! ```
//!
//! Only the last line may be torn. The reader reports every other line whose checksum does not
//! match as [`DataError::Damaged`].

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veneer_frequency::CountedGraph;
use veneer_measurements::{InstrumentId, Measurement};
use veneer_names::{CounterSlot, FragmentId, LogPoint, PointSlot};

use super::layout::{JOURNAL_FILE, RingLayout, ShardLayout};
use super::{DataError, RecordError};
use crate::report::{InstrumentKind, Patch, Problem};

/// The format of the data directory that this crate writes and reads.
const FORMAT: u32 = 2;
/// The largest number of nodes that the flow graph of a method can have.
const MAX_FLOW_NODES: u32 = 1 << 16;

/// A record of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    /// The first record.
    Run {
        /// The format of the directory.
        format: u32,
        /// The agent's version.
        agent: String,
        /// The process id in the JVM's own process namespace.
        pid: u32,
        /// `java.vm.name`.
        name: String,
        /// `java.vm.version`.
        version: String,
        /// Start of the agent, in milliseconds since 1970.
        began_ms: u64,
        /// Start of the agent by `System.nanoTime()`.
        began_ns: u64,
    },
    /// A plan attached an instrument.
    Instrument {
        /// The id of the instrument.
        id: InstrumentId,
        /// The name in the plan, or a name that the agent derives from kind and pattern.
        name: String,
        /// The kind of instrument.
        kind: InstrumentKind,
        /// The name of the plan.
        plan: String,
    },
    /// The instrument will be installed at these points of a method.
    #[serde(rename = "stands")]
    Installed {
        /// The id of the instrument.
        id: InstrumentId,
        /// The class name with dots.
        class: String,
        /// Name and descriptor.
        method: String,
        /// The points of the method.
        points: Vec<PointRecord>,
        /// The flow graph from which the counts of the points are derived, if any. A point is a
        /// node of the graph (`n`, or else `f`), or an edge if it has a `t`. A point also has its own counter, which
        /// counts while the control-flow graph is edited; its count is added to the derived count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<CountedGraph>,
    },
    /// The instrument could not be installed in this method. The record cancels the preceding
    /// record [`Record::Installed`] for the method.
    #[serde(rename = "leaves")]
    NotInstalled {
        /// The id of the instrument.
        id: InstrumentId,
        /// The class name with dots.
        class: String,
        /// Name and descriptor.
        method: String,
    },
    /// The instrument was detached; its readings are final.
    Detached {
        /// The id of the instrument.
        id: InstrumentId,
        /// The final readings of each point, by the point's slot.
        readings: Vec<(RecordedSlot, Measurement)>,
    },
    /// The JVM unloaded classes. The readings of the instrument's points in them are final.
    /// From here on the agent reuses the points' counters for other points.
    #[serde(rename = "buried")]
    Finalized {
        /// The id of the instrument.
        id: InstrumentId,
        /// The final readings of each point, by the point's slot.
        readings: Vec<(RecordedSlot, Measurement)>,
    },
    /// A flow graph was edited.
    Patch(Patch),
    /// A patch was undone.
    Undone {
        /// The patch, for instance `p7`.
        id: String,
    },
    /// An error that did not reach the application.
    Problem(Problem),
    /// The JVM ended normally.
    Ended {},
}

/// A point of an instrument, without its method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointRecord {
    /// The fragment (basic block or region), unless the point is the whole method.
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<FragmentId>,
    /// For an edge, the fragment to which the edge leads.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub to: Option<FragmentId>,
    /// The node of the flow graph that has the count of the point, if the point is neither a fragment
    /// nor an edge.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// For an instruction, a description of its effect.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The source line.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u16>,
    /// The storage of the point's measurements.
    #[serde(rename = "s")]
    pub slot: RecordedSlot,
    /// The values of the count and total counters when the point was created. The reader
    /// subtracts them, because the agent reuses counters without clearing them.
    #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
    pub base: [u64; 2],
    /// Names of the logged variables.
    #[serde(rename = "v", default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// The number of a point's first counter, or of the log point for a log. The kind of the instrument
/// decides which of the two it is, so only [`RecordedSlot::resolve`] reads the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordedSlot(u32);

impl RecordedSlot {
    /// The counter or the log point of an instrument of this kind.
    pub fn resolve(self, kind: InstrumentKind) -> PointSlot {
        match kind {
            InstrumentKind::Counter
            | InstrumentKind::Code
            | InstrumentKind::Timer
            | InstrumentKind::Recorder => PointSlot::Counter(CounterSlot(self.0)),
            InstrumentKind::Log => PointSlot::Log(LogPoint(self.0)),
        }
    }
}

impl From<PointSlot> for RecordedSlot {
    fn from(slot: PointSlot) -> RecordedSlot {
        RecordedSlot(slot.number())
    }
}

fn is_zero(base: &[u64; 2]) -> bool {
    *base == [0, 0]
}

/// The line of the journal that contains this record.
pub fn encode_record(record: &Record) -> Result<Vec<u8>, serde_json::Error> {
    let text = serde_json::to_vec(record)?;
    let mut line = format!("{:08x} ", crc32fast::hash(&text)).into_bytes();
    line.extend_from_slice(&text);
    line.push(b'\n');
    Ok(line)
}

impl Record {
    /// The first record of a journal, with the format that this crate writes.
    pub fn first_record(
        pid: u32,
        name: String,
        version: String,
        began_ms: u64,
        began_ns: u64,
    ) -> Record {
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

/// A point with its method.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedPoint {
    /// The class name with dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// The position in the method.
    pub at: PointRecord,
    /// The storage of the point's measurements.
    pub slot: PointSlot,
    /// The flow graph of the `flow` field in [`Record::Installed`].
    pub flow: Option<Arc<CountedGraph>>,
    /// The final readings, if the instrument was detached or the class was unloaded.
    pub last: Option<Measurement>,
}

/// An instrument, assembled from its records.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedInstrument {
    /// The id of the instrument.
    pub id: InstrumentId,
    /// The name in the plan, or a name that the agent derives from kind and pattern.
    pub name: String,
    /// The kind of instrument.
    pub kind: InstrumentKind,
    /// The name of the plan.
    pub plan: String,
    /// Whether the journal has no `detached` record of the instrument.
    pub attached: bool,
    /// The points at which the instrument was installed.
    pub points: Vec<RecordedPoint>,
}

/// The content of a metadata journal.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalContent {
    /// The process id in the JVM's own process namespace.
    pub pid: u32,
    /// `java.vm.name`.
    pub name: String,
    /// `java.vm.version`.
    pub version: String,
    /// Start of the agent, in milliseconds since 1970.
    pub began_ms: u64,
    /// Start of the agent by `System.nanoTime()`.
    pub began_ns: u64,
    /// All instruments, in the order in which plans attached them.
    pub instruments: Vec<RecordedInstrument>,
    /// All edits, including undone ones.
    pub patches: Vec<Patch>,
    /// Errors of plans and of the agent itself.
    pub problems: Vec<Problem>,
    /// Whether the JVM ended normally.
    pub ended: bool,
    /// Whether the last line is torn.
    pub torn: bool,
}

/// Reads the metadata journal of a data directory.
///
/// # Errors
/// The file is missing or unreadable, has no complete first record, or has a damaged record. A torn
/// last line is no error.
pub fn read_journal(directory: &Path) -> Result<JournalContent, DataError> {
    let path = directory.join(JOURNAL_FILE);
    let file = File::open(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => DataError::NoData(directory.to_owned()),
        _ => DataError::Unreadable {
            path: path.clone(),
            source,
        },
    })?;
    let mut reader = BufReader::new(file);
    let mut journal: Option<JournalContent> = None;
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
        let damaged = |reason: RecordError| DataError::Damaged {
            path: path.clone(),
            record: number,
            reason,
        };
        let record = decode(&line).map_err(damaged)?;
        match (&mut journal, record) {
            (None, record) => {
                journal = Some(
                    new_journal(&path, record)
                        .map_err(|e| e.unwrap_or_else(|| damaged(RecordError::NoRun)))?,
                )
            }
            (Some(catalogue), record) => catalogue.apply(record).map_err(damaged)?,
        }
    }
    let mut catalogue = journal.ok_or_else(|| DataError::Truncated {
        path: path.clone(),
        expected: 1,
        found: 0,
    })?;
    catalogue.torn = torn;
    Ok(catalogue)
}

/// Checks the checksum of a line without its line feed, and parses its record.
fn decode(line: &[u8]) -> Result<Record, RecordError> {
    let (sum, text) = line.split_at_checked(9).ok_or(RecordError::TooShort)?;
    let sum = std::str::from_utf8(sum)
        .ok()
        .and_then(|sum| sum.strip_suffix(' '))
        .and_then(|sum| u32::from_str_radix(sum, 16).ok())
        .ok_or(RecordError::NoChecksum)?;
    if crc32fast::hash(text) != sum {
        return Err(RecordError::WrongChecksum);
    }
    serde_json::from_slice(text).map_err(RecordError::NotUnderstood)
}

/// The empty journal of a `run` record. The error is `None` if the record is not `run`.
fn new_journal(path: &Path, record: Record) -> Result<JournalContent, Option<DataError>> {
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
    Ok(JournalContent {
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

impl JournalContent {
    /// The newest instrument with this number.
    fn instrument(&mut self, id: InstrumentId) -> Result<&mut RecordedInstrument, RecordError> {
        let found = self.instruments.iter_mut().rev().find(|one| one.id == id);
        found.ok_or(RecordError::UnknownInstrument(id))
    }

    /// Applies a record that follows the first one. The error says why the record is invalid.
    fn apply(&mut self, record: Record) -> Result<(), RecordError> {
        match record {
            Record::Run { .. } => return Err(RecordError::SecondRun),
            Record::Instrument {
                id,
                name,
                kind,
                plan,
            } => self.instruments.push(RecordedInstrument {
                id,
                name,
                kind,
                plan,
                attached: true,
                points: Vec::new(),
            }),
            Record::Installed {
                id,
                class,
                method,
                points,
                flow,
            } => {
                let instrument = self.instrument(id)?;
                let last_slot = match instrument.kind {
                    InstrumentKind::Counter | InstrumentKind::Code | InstrumentKind::Recorder => {
                        ShardLayout::SLOTS - 1
                    }
                    InstrumentKind::Timer => ShardLayout::SLOTS - 4,
                    InstrumentKind::Log => RingLayout::MAX_LOG_POINTS - 1,
                };
                let kind = instrument.kind;
                let mut numbers = points.iter().map(|p| p.slot.resolve(kind).number());
                if let Some(beyond) = numbers.find(|n| u64::from(*n) > last_slot) {
                    return Err(RecordError::UnknownCounter(beyond));
                }
                if let Some(flow) = &flow {
                    if flow.nodes > MAX_FLOW_NODES {
                        return Err(RecordError::TooManyFragments(flow.nodes));
                    }
                    if let Some(beyond) = flow
                        .counters()
                        .find(|c| u64::from(*c) >= ShardLayout::SLOTS)
                    {
                        return Err(RecordError::UnknownCounter(beyond));
                    }
                }
                let flow = flow.map(Arc::new);
                instrument
                    .points
                    .extend(points.into_iter().map(|at| RecordedPoint {
                        class: class.clone(),
                        method: method.clone(),
                        slot: at.slot.resolve(kind),
                        at,
                        flow: flow.clone(),
                        last: None,
                    }));
            }
            Record::NotInstalled { id, class, method } => self
                .instrument(id)?
                .points
                .retain(|p| p.last.is_some() || p.class != class || p.method != method),
            Record::Detached { id, readings } => {
                let instrument = self.instrument(id)?;
                instrument.attached = false;
                let last: HashMap<RecordedSlot, Measurement> = readings.into_iter().collect();
                for point in instrument.points.iter_mut().filter(|p| p.last.is_none()) {
                    point.last = last.get(&point.at.slot).copied();
                }
            }
            Record::Finalized { id, readings } => {
                let last: HashMap<RecordedSlot, Measurement> = readings.into_iter().collect();
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

    #[test]
    fn a_line_has_its_documented_bytes() {
        // The check value of CRC-32 (IEEE 802.3).
        assert_eq!(crc32fast::hash(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32fast::hash(b""), 0);
        let line = encode_record(&Record::Ended {}).unwrap();
        assert_eq!(line, b"85ce29e4 {\"ended\":{}}\n");
    }

    fn records() -> Vec<Record> {
        let counter = |number| PointRecord {
            fragment: Some(FragmentId(number)),
            what: None,
            slot: PointSlot::Counter(CounterSlot(number)).into(),
            ..PointRecord::default()
        };
        vec![
            Record::first_record(7, "VM".into(), "17".into(), 1, 2),
            Record::Instrument {
                id: InstrumentId(1),
                name: "hits".into(),
                kind: InstrumentKind::Counter,
                plan: "p".into(),
            },
            Record::Installed {
                id: InstrumentId(1),
                class: "A".into(),
                method: "m()V".into(),
                points: vec![counter(0), counter(1)],
                flow: None,
            },
            Record::Installed {
                id: InstrumentId(1),
                class: "A".into(),
                method: "n()V".into(),
                points: vec![counter(2)],
                flow: None,
            },
            Record::NotInstalled {
                id: InstrumentId(1),
                class: "A".into(),
                method: "m()V".into(),
            },
            Record::Detached {
                id: InstrumentId(1),
                readings: vec![(RecordedSlot(2), Measurement::Count { hits: 3 })],
            },
            Record::Ended {},
        ]
    }

    fn write(directory: &Path, bytes: &[u8]) {
        std::fs::write(directory.join(JOURNAL_FILE), bytes).unwrap();
    }

    /// Creates a temporary directory for one test of this process.
    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("veneer-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn bytes(records: &[Record]) -> Vec<u8> {
        records
            .iter()
            .flat_map(|r| encode_record(r).unwrap())
            .collect()
    }

    #[test]
    fn records_are_assembled_into_instruments() {
        let directory = directory("catalogue");
        write(&directory, &bytes(&records()));
        let catalogue = read_journal(&directory).unwrap();
        let one = &catalogue.instruments[0];
        assert_eq!((one.points.len(), one.attached), (1, false));
        assert_eq!(one.points[0].method, "n()V");
        assert_eq!(one.points[0].last, Some(Measurement::Count { hits: 3 }));
        assert!(catalogue.ended && !catalogue.torn);
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_slot_is_a_plain_number_that_the_kind_of_the_instrument_resolves() {
        let point = PointRecord {
            fragment: Some(FragmentId(3)),
            slot: PointSlot::Log(LogPoint(7)).into(),
            ..PointRecord::default()
        };
        let text = r#"{"f":3,"s":7}"#;
        assert_eq!(serde_json::to_string(&point).unwrap(), text);
        let slot = serde_json::from_str::<PointRecord>(text).unwrap().slot;
        assert_eq!(
            slot.resolve(InstrumentKind::Log),
            PointSlot::Log(LogPoint(7))
        );
        assert_eq!(
            slot.resolve(InstrumentKind::Timer),
            PointSlot::Counter(CounterSlot(7))
        );
        let readings = Record::Detached {
            id: InstrumentId(1),
            readings: vec![(slot, Measurement::Count { hits: 3 })],
        };
        assert_eq!(
            serde_json::to_string(&readings).unwrap(),
            r#"{"detached":{"id":1,"readings":[[7,{"hits":3}]]}}"#
        );
    }

    #[test]
    fn a_cut_journal_is_read_up_to_the_cut() {
        let directory = directory("cut");
        let all = bytes(&records());
        for length in 0..all.len() {
            write(&directory, &all[..length]);
            match read_journal(&directory) {
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
    fn the_error_names_the_damaged_record() {
        let directory = directory("damage");
        let all = bytes(&records());
        for at in 0..all.len() {
            let mut bad = all.clone();
            bad[at] ^= 0x20;
            write(&directory, &bad);
            match read_journal(&directory) {
                Err(DataError::Damaged { record, .. }) => {
                    let expected = 1 + all[..at].iter().filter(|b| **b == b'\n').count() as u64;
                    assert_eq!(record, expected, "byte {at}");
                }
                // The bit flip removed the last line feed, or changed the case of a hexadecimal
                // digit of a checksum.
                Ok(catalogue) => assert!(catalogue.torn || all[at].is_ascii_hexdigit(), "{at}"),
                Err(other) => panic!("{at}: {other}"),
            }
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn contradictory_records_are_refused() {
        let directory = directory("sense");
        let run = Record::first_record(7, "VM".into(), "17".into(), 1, 2);
        let detached = |id, readings| Record::Detached { id, readings };
        let beyond = PointRecord {
            slot: RecordedSlot(u32::MAX),
            ..PointRecord::default()
        };
        let instrument = records()[1].clone();
        let stands = Record::Installed {
            id: InstrumentId(1),
            class: "A".into(),
            method: "m()V".into(),
            points: vec![beyond],
            flow: None,
        };
        for (all, word) in [
            (vec![Record::Ended {}], "no `run`"),
            (vec![run.clone(), run.clone()], "second"),
            (vec![run.clone(), detached(InstrumentId(3), vec![])], "i3"),
            (vec![run, instrument, stands], "no counter"),
        ] {
            write(&directory, &bytes(&all));
            let error = read_journal(&directory).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
