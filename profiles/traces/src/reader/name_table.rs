//! The names of a trace, for fast lookup by the ids in events.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::error::TraceError;
use crate::format::names::{
    ClockRecord, FrameRecord, NameRecord, ProbeRecord, SiteRecord, ThreadRecord,
};
use crate::format::{NAMES_FILE, VERSION};

/// The position of a frame in [`Names::frames`].
pub type FrameSlot = u32;
/// The slot of all frames that the names file does not contain.
pub const UNKNOWN_FRAME: FrameSlot = 0;
/// Ids up to this multiple of the number of frames are looked up in an array.
const DENSE_FACTOR: usize = 8;

/// The cost of a probe, in picoseconds. [`ProbeRecord`] explains the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeCost {
    /// The cost between the two time stamps of a call.
    pub inside_ps: u64,
    /// The cost outside the two time stamps.
    pub outside_ps: u64,
    /// The uncertainty of the sum.
    pub spread_ps: u64,
}

impl From<&ProbeRecord> for ProbeCost {
    fn from(probe: &ProbeRecord) -> ProbeCost {
        ProbeCost {
            inside_ps: probe.inside_ps,
            outside_ps: probe.outside_ps,
            spread_ps: probe.spread_ps,
        }
    }
}

/// The content of a names file.
#[derive(Debug)]
pub struct Names {
    /// The version of the trace.
    pub version: (u16, u16),
    /// The process id.
    pub pid: u32,
    /// `java.vm.name` and `java.vm.version`.
    pub jvm: (String, String),
    /// The relation of ticks to real time: the origin of the first record, the rate of the last.
    pub clock: ClockRecord,
    /// The frames by slot. The first is the unknown frame.
    pub frames: Vec<FrameRecord>,
    /// The costs of probe forms, by their number.
    pub probes: HashMap<u32, ProbeRecord>,
    /// The threads by their number.
    pub threads: HashMap<u32, ThreadRecord>,
    /// The call sites by id.
    pub sites: HashMap<u64, SiteRecord>,
    /// The filter that the recorder applied.
    pub filter: Vec<String>,
    /// The source of processor times: `rseq`, `clock` or `none`.
    pub processor_time: String,
    /// Lines that could not be read.
    pub damaged_lines: u64,
    texts: HashMap<u64, String>,
    /// The costs of the probes of frames, by slot.
    probe_costs: Vec<ProbeCost>,
    /// A number for the class of each frame, by slot. Frames of one class have one number.
    class_numbers: Vec<u32>,
    dense: Vec<FrameSlot>,
    sparse: HashMap<u64, FrameSlot>,
}

impl Names {
    /// Reads the names file of a trace directory.
    pub fn read(directory: &Path) -> Result<Names, TraceError> {
        let path = directory.join(NAMES_FILE);
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                TraceError::NotATrace(directory.to_path_buf())
            }
            _ => TraceError::io(&path, error),
        })?;
        Names::parse(&bytes, directory)
    }

    /// Parses a names file. `directory` is for error messages. Damaged lines are counted and
    /// skipped; the last line may be torn.
    pub fn parse(bytes: &[u8], directory: &Path) -> Result<Names, TraceError> {
        let not_a_trace = || TraceError::NotATrace(directory.to_path_buf());
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let first = lines.next().and_then(NameRecord::parse);
        let Some(NameRecord::Trace {
            version,
            pid,
            jvm,
            jvm_version,
        }) = first
        else {
            return Err(not_a_trace());
        };
        if version.0 > VERSION.0 {
            return Err(TraceError::FutureVersion {
                path: directory.join(NAMES_FILE),
                major: version.0,
                minor: version.1,
            });
        }
        let mut names = Names {
            version,
            pid,
            jvm: (jvm, jvm_version),
            clock: ClockRecord::default(),
            frames: vec![unknown_frame()],
            probes: HashMap::new(),
            threads: HashMap::new(),
            sites: HashMap::new(),
            filter: Vec::new(),
            processor_time: "none".into(),
            damaged_lines: 0,
            texts: HashMap::new(),
            probe_costs: Vec::new(),
            class_numbers: Vec::new(),
            dense: Vec::new(),
            sparse: HashMap::new(),
        };
        let mut has_clock = false;
        let mut lines = lines.peekable();
        while let Some(line) = lines.next() {
            match NameRecord::parse(line) {
                Some(NameRecord::Clock(clock)) => {
                    let origin = if has_clock { names.clock } else { clock };
                    names.clock = ClockRecord {
                        ticks: origin.ticks,
                        unix_ns: origin.unix_ns,
                        ..clock
                    };
                    has_clock = true;
                }
                Some(record) => names.add(record),
                // The text after the last line feed is empty, or a torn line.
                None if lines.peek().is_none() => {
                    names.damaged_lines += u64::from(!line.is_empty())
                }
                None => names.damaged_lines += 1,
            }
        }
        names.make_dense();
        let cost = |frame: &FrameRecord| {
            let probe = names.probes.get(&frame.probe);
            probe.map_or_else(ProbeCost::default, ProbeCost::from)
        };
        names.class_numbers = class_numbers(&names.frames);
        names.probe_costs = names.frames.iter().map(cost).collect();
        Ok(names)
    }

    fn add(&mut self, record: NameRecord) {
        match record {
            NameRecord::Text { id, text } => {
                self.texts.insert(id, text);
            }
            NameRecord::Frame(frame) => match self.sparse.get(&frame.id) {
                Some(slot) => self.frames[*slot as usize] = frame,
                None => {
                    self.sparse.insert(frame.id, self.frames.len() as FrameSlot);
                    self.frames.push(frame);
                }
            },
            NameRecord::Site(site) => {
                self.sites.insert(site.id, site);
            }
            NameRecord::Thread(thread) => {
                self.threads.insert(thread.id, thread);
            }
            NameRecord::Probe(probe) => {
                self.probes.insert(probe.id, probe);
            }
            NameRecord::Filter(text) => self.filter.push(text),
            NameRecord::ProcessorTime(source) => self.processor_time = source,
            NameRecord::Trace { .. } | NameRecord::Clock(_) | NameRecord::Unknown => {}
        }
    }

    /// Moves the lookup into an array if the ids are small numbers.
    fn make_dense(&mut self) {
        let Some(largest) = self.sparse.keys().max() else {
            return;
        };
        let largest = usize::try_from(*largest).unwrap_or(usize::MAX);
        if largest < self.frames.len().saturating_mul(DENSE_FACTOR) {
            self.dense = vec![UNKNOWN_FRAME; largest + 1];
            for (id, slot) in self.sparse.drain() {
                self.dense[id as usize] = slot;
            }
        }
    }

    /// The slot of a frame id.
    #[inline]
    pub fn slot(&self, id: u64) -> FrameSlot {
        let dense = usize::try_from(id).ok().and_then(|id| self.dense.get(id));
        match dense {
            Some(slot) => *slot,
            None => self.sparse.get(&id).copied().unwrap_or(UNKNOWN_FRAME),
        }
    }

    /// The frame of a slot; the unknown frame if there is none.
    pub fn frame(&self, slot: FrameSlot) -> &FrameRecord {
        self.frames.get(slot as usize).unwrap_or(&self.frames[0])
    }

    /// A string, if the names file has it.
    pub fn text(&self, id: u64) -> Option<&str> {
        self.texts.get(&id).map(String::as_str)
    }

    /// A number that all frames of a class have, and no other one.
    #[inline]
    pub fn class_number(&self, slot: FrameSlot) -> u32 {
        let number = self.class_numbers.get(slot as usize);
        number.copied().unwrap_or_default()
    }

    /// The cost of the probe of a frame; 0 if it is unknown.
    #[inline]
    pub fn probe_cost(&self, slot: FrameSlot) -> ProbeCost {
        let cost = self.probe_costs.get(slot as usize);
        cost.copied().unwrap_or_default()
    }

    /// The name of a thread; `thread 7` if the names file has none.
    pub fn thread_name(&self, thread: u32) -> String {
        match self.threads.get(&thread) {
            Some(record) if !record.name.is_empty() => record.name.clone(),
            _ => format!("thread {thread}"),
        }
    }

    /// A time in nanoseconds since the origin of the trace.
    pub fn since_origin(&self, ticks: u64) -> u64 {
        let since = ticks.saturating_sub(self.clock.ticks);
        self.clock.nanoseconds(since)
    }
}

/// Numbers the classes of frames in the order of their first frames.
fn class_numbers(frames: &[FrameRecord]) -> Vec<u32> {
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut numbers = Vec::with_capacity(frames.len());
    for frame in frames {
        let next = known.len() as u32;
        numbers.push(*known.entry(&frame.class).or_insert(next));
    }
    numbers
}

fn unknown_frame() -> FrameRecord {
    FrameRecord {
        id: 0,
        kind: crate::format::names::FrameKind::Other,
        class: String::new(),
        name: "(unknown)".into(),
        descriptor: String::new(),
        line: 0,
        probe: 0,
    }
}
