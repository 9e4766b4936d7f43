//! The files of empty calls, from which the cost of a recorded call is derived.
//!
//! ```text
//!   begin_calibration ─▶ VeneerTrace.calibrate: empty calls in ‹trace›/calibration/thread-1.events
//!                                 │ read_cost
//!   end_calibration   ◀───────────┘  `probe` in the names file; the directory is removed
//! ```
//!
//! The empty calls are recorded with the code, the track and the writer of other calls, before the
//! recording begins. Their file is a ring of segments, so it has the latest calls only.

use super::{Recorder, Recording, SEGMENT_BYTES};
use crate::data::processor_clock::ProcessorTime;
use crate::data::trace_clock::TraceClock;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use veneer_instruments::{InstrumentId, RecordingForm};
use veneer_traces::NameRecord;
use veneer_traces::analysis::{empty_calls, probe_cost};
use veneer_traces::format::events_file;
use veneer_traces::format::names::ProbeRecord;
use veneer_traces::writer::{SegmentRing, ThreadWriter, WriterOptions};

/// The name of the directory inside that of the trace.
const DIRECTORY: &str = "calibration";
/// The number of the thread that makes empty calls.
const THREAD: u32 = 1;
/// The probe form of recorded calls. A recording has one form.
const CALL_PROBE: u32 = 1;

/// The place of the empty calls of a recording.
#[derive(Clone, Debug)]
pub struct Calibration {
    events: PathBuf,
    source: ProcessorTime,
    clock: TraceClock,
}

impl Calibration {
    /// The source of processor times, which determines the probe form.
    pub fn source(&self) -> ProcessorTime {
        self.source
    }

    /// The clock of the recording.
    pub fn clock(&self) -> TraceClock {
        self.clock
    }

    /// The cost of a call by the empty calls that are recorded. `None` if there are too few.
    pub fn read_cost(&self) -> Option<ProbeRecord> {
        let name = format!("call, processor time {}", self.source.name());
        let file = fs::read(&self.events).ok()?;
        let cost = probe_cost(CALL_PROBE, &name, &empty_calls(&file))?;
        Some(self.clock.cost(cost))
    }
}

impl Recorder {
    /// Prepares a recording of events for empty calls. `None` if the instrument records contexts, or
    /// if the directory cannot be created.
    pub fn begin_calibration(&self, instrument: InstrumentId) -> Option<Calibration> {
        let latest = self.latest.lock();
        let recording = latest.as_ref().filter(|one| one.instrument == instrument)?;
        if recording.form != RecordingForm::Events {
            return None;
        }
        let directory = recording.directory.join(DIRECTORY);
        DirBuilder::new().mode(0o700).create(&directory).ok()?;
        Some(Calibration {
            events: directory.join(events_file(THREAD)),
            source: recording.source,
            clock: recording.clock,
        })
    }

    /// Removes the empty calls of a recording, and writes the cost that was derived from them. Methods
    /// that get a name from now on have this cost.
    pub fn end_calibration(&self, instrument: InstrumentId, cost: Option<ProbeRecord>) {
        let mut latest = self.latest.lock();
        let Some(recording) = latest.as_mut().filter(|one| one.instrument == instrument) else {
            return;
        };
        // A directory that remains is ignored by readers.
        let _ = fs::remove_dir_all(recording.directory.join(DIRECTORY));
        if let Some(cost) = cost {
            recording.probe = cost.id;
            recording.names.write(&NameRecord::Probe(cost));
        }
    }
}

impl Recording {
    /// Creates the events file of the thread that makes empty calls.
    pub(super) fn create_calibration_file(&self) -> Option<ThreadWriter> {
        let options = WriterOptions {
            segment_bytes: SEGMENT_BYTES,
            ring: Some(SegmentRing {
                segments: 2,
                keep: u64::MAX,
            }),
        };
        ThreadWriter::create(&self.directory.join(DIRECTORY), THREAD, options).ok()
    }
}
