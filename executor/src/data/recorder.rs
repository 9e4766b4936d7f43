//! The recorder of event traces and of calling contexts: one file for each thread, which the thread
//! itself writes.
//!
//! ```text
//!   track    recording | next word | end of segment | latest time | open calls       one for each counter shard
//!   trace    names                                                                   the agent writes it
//!            thread-1.events  thread-2.events …                                      VeneerTrace.java stores the words
//! ```
//!
//! `docs/traces.md` specifies the files; the crate `veneer-traces` writes their headers and records.
//! Its writer is not on the fast path, because compiled Java code cannot contain it: an event is
//! stored by `VeneerTrace`, from the position that the track holds. The writer maps segments, and
//! writes the events that do not fit into one word or into the segment. `context_tracks.rs` has the
//! trees of contexts, which have other words in the track, and `access_tracks.rs` the tables of memory
//! accesses. `calibration.rs` has the files of empty
//! calls, from which the cost of a recorded call is derived.
//!
//! | caller                                  | thread                                          |
//! |-----------------------------------------|-------------------------------------------------|
//! | [`Recorder::begin`], [`Recorder::end`]  | plan thread                                     |
//! | [`Recorder::name_frame`]                | plan thread, threads that prepare classes       |
//! | [`Recorder::open`], [`Recorder::write`] | the application thread that owns the track      |
//! | [`Recorder::grow`]                      | the application thread that owns the track      |
//! | [`Recorder::thread_ends`]               | the application thread that ends                |
//!
//! A mutex protects the recording, and another one the writer of each track. No thread calls the JVM
//! while it holds one of them.
//!
//! **Invariants:** only the owner of a track maps or unmaps its segments, because the owner may be
//! just storing a word. The plan thread detaches the memory of a segment from the file instead
//! ([`ThreadWriter::close`]). A name is in the names file before an event can use it.

mod access_track;
mod access_tracks;
pub mod calibration;
mod context_track;
mod context_tracks;
mod curve_track;
pub mod jvm_tracks;
mod origins;
pub mod recorded_caches;
pub mod recorded_thread;
pub mod recording_windows;
mod submissions;
pub mod thread_events;
mod trace_names;
mod track;

use crate::data::append_file::with_file_size_signal_blocked;
use crate::data::context_file::NodeBudget;
use crate::data::memory::WordTable;
use crate::data::processor_clock::ProcessorTime;
use crate::data::recorder::access_track::AccessTrack;
use crate::data::recorder::context_track::ContextTrack;
use crate::data::recorder::origins::Origins;
use crate::data::recorder::recorded_caches::RecordedCaches;
use crate::data::recorder::recorded_thread::RecordedThread;
use crate::data::recorder::recording_windows::RecordingWindows;
use crate::data::recorder::submissions::Submissions;
use crate::data::recorder::trace_names::TraceNames;
use crate::data::recorder::track::Track;
use crate::data::thread_age::since_boot;
use crate::data::trace_clock::TraceClock;
use crate::jvm::runtime_table;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use thiserror::Error;
use veneer_instruments::{
    InstrumentId, RecordingForm, RecordingSummary, VmEventKind, VmEventKinds,
};
use veneer_names::CounterSlot;
use veneer_protocol::data::ShardLayout;
use veneer_traces::analysis::TraceFilter;
use veneer_traces::format::events_file;
use veneer_traces::format::names::{FrameKind, FrameRecord};
use veneer_traces::writer::{
    NamesWriter, SegmentRing, ThreadWriter, WriterOptions, WriterPosition,
};
use veneer_traces::{NameRecord, TraceError};

/// The size of a segment. A segment of 256 KiB has 32,760 events; the thread waits some tens of
/// microseconds for the next one.
const SEGMENT_BYTES: u32 = 1 << 18;
/// The most segments of a thread whose trace keeps its last seconds: 256 MiB.
const MAX_RING_SEGMENTS: u32 = 1024;
/// The number of the recording of empty calls. Other recordings have smaller numbers.
const CALIBRATION: u32 = runtime_table::CALIBRATION as u32;
/// The most directories with the traces of one process.
const MAX_TRACES: u32 = 10_000;

const TRACK_WORDS: usize = runtime_table::TRACK_BYTES as usize / 8;
const AT: usize = runtime_table::TRACK_AT as usize / 8;
const END: usize = runtime_table::TRACK_END as usize / 8;
const LAST: usize = runtime_table::TRACK_LAST as usize / 8;
const DEPTH: usize = runtime_table::TRACK_DEPTH as usize / 8;
const SWITCH: usize = runtime_table::TRACK_SWITCH as usize / 8;
const FRESH: usize = runtime_table::TRACK_FRESH as usize / 8;

/// Why a recording could not begin.
#[derive(Debug, Error)]
pub enum RecordError {
    /// There is one recording at a time.
    #[error("{0} records already")]
    Busy(InstrumentId),
    /// The files could not be created.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// No name for the directory is free.
    #[error("there are {MAX_TRACES} traces beside {0}")]
    TooMany(String),
}

/// A method whose calls are recorded.
pub struct RecordedMethod<'a> {
    /// The counter of its point, which is the id of the method in the trace.
    pub slot: CounterSlot,
    /// The class, dotted.
    pub class: &'a str,
    /// Name and descriptor.
    pub label: &'a str,
    /// The first source line.
    pub line: Option<u16>,
}

/// The form of a recording, and the methods that it leaves out.
pub struct RecordingSpec<'a> {
    pub form: RecordingForm,
    pub filter: TraceFilter,
    /// The lines of the filter.
    pub filter_lines: &'a [String],
    /// Whether the program was running before the recording.
    pub is_late: bool,
    /// The clock that `VeneerTrace` reads.
    pub clock: TraceClock,
    /// The caches that are simulated, if memory accesses are recorded.
    pub caches: Option<RecordedCaches>,
    /// The mean number of bytes between two heap samples, if heap allocations are recorded.
    pub sampling_interval: Option<u64>,
}

/// A recording, current or ended.
struct Recording {
    number: u32,
    form: RecordingForm,
    /// The time since the boot of the machine at which the recording began, if the program was
    /// running before.
    late_since: Option<Duration>,
    /// The room for contexts.
    nodes: Arc<NodeBudget>,
    /// The contexts in which tasks were submitted.
    submissions: Submissions,
    instrument: InstrumentId,
    directory: PathBuf,
    names: TraceNames,
    filter: TraceFilter,
    clock: TraceClock,
    /// The caches that are simulated, if memory accesses are recorded.
    caches: Option<Arc<RecordedCaches>>,
    sampling_interval: Option<u64>,
    /// The source of processor times.
    source: ProcessorTime,
    /// The probe form of the recorded methods; 0 if its cost is unknown.
    probe: u32,
    /// The number of methods that the filter leaves out.
    excluded: u64,
    /// The methods that have a name in the trace.
    named: HashSet<CounterSlot>,
    /// The threads that have ended while the trace keeps its last seconds, the oldest first: the time
    /// and the number.
    ended: VecDeque<(u64, u32)>,
    is_over: bool,
}

/// The recorder. See the module documentation.
pub struct Recorder {
    /// The tracks, in the order of the counter shards.
    words: WordTable,
    tracks: Box<[Mutex<Option<Track>>]>,
    /// The trees of contexts, in the order of the counter shards.
    contexts: Box<[Mutex<Option<ContextTrack>>]>,
    /// The tables of memory accesses, in the order of the counter shards.
    accesses: Box<[Mutex<Option<AccessTrack>>]>,
    /// The tracks of threads of the JVM; see `jvm_tracks.rs`.
    jvm: [Mutex<Option<Track>>; 3],
    /// The number of the recording of events that has not ended; 0 if there is none.
    active: AtomicU32,
    /// The number of the recording of memory accesses, which is negative; 0 if there is none.
    active_accesses: AtomicI32,
    /// The counters of its L1: the first one in the upper half, and their number. 0 if there are none.
    active_l1: AtomicU64,
    /// The class of each site that was seen first.
    primary_classes: Mutex<HashMap<i64, i32>>,
    origins: Mutex<Origins>,
    /// The lines that threads share; the memory is never freed.
    shared_lines: OnceLock<WordTable>,
    /// The number of collections during recordings of memory accesses: one word, which Java code reads.
    collections: WordTable,
    /// The windows of sampled recordings.
    pub windows: RecordingWindows,
    /// The latest recording.
    latest: Mutex<Option<Recording>>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        let shards = ShardLayout::COUNT as usize;
        Recorder {
            words: WordTable::new(shards * TRACK_WORDS),
            tracks: (0..shards).map(|_| Mutex::new(None)).collect(),
            contexts: (0..shards).map(|_| Mutex::new(None)).collect(),
            accesses: (0..shards).map(|_| Mutex::new(None)).collect(),
            jvm: Default::default(),
            active: AtomicU32::new(0),
            active_accesses: AtomicI32::new(0),
            active_l1: AtomicU64::new(0),
            primary_classes: Mutex::default(),
            origins: Mutex::default(),
            shared_lines: OnceLock::new(),
            collections: WordTable::new(1),
            windows: RecordingWindows::default(),
            latest: Mutex::new(None),
        }
    }
}

impl Recorder {
    /// The address of the track of shard 0.
    pub fn address(&self) -> i64 {
        self.words.address()
    }

    /// Creates the directory of a new recording beside `data`, the data directory of this JVM, and
    /// the names file in it. Returns the number of the recording, which is negative if it is one of
    /// contexts, and not 0. Nothing is recorded until `VeneerTrace` knows the number.
    ///
    /// # Errors
    /// Another recording has not ended, or the files cannot be created.
    pub fn begin(
        &self,
        instrument: InstrumentId,
        data: &Path,
        (jvm, jvm_version): (&str, &str),
        spec: RecordingSpec<'_>,
    ) -> Result<i32, RecordError> {
        let mut latest = self.latest.lock();
        if let Some(other) = latest.as_ref().filter(|one| !one.is_over) {
            return Err(RecordError::Busy(other.instrument));
        }
        let directory = make_directory(data)?;
        let mut names = NamesWriter::create(&directory, std::process::id(), jvm, jvm_version)?;
        let begin = spec.clock.record(spec.clock.now(), unix_time());
        names.write(&NameRecord::Clock(begin))?;
        let source = ProcessorTime::choose(spec.filter.processor_time.as_deref());
        names.write(&NameRecord::ProcessorTime(source.name().into()))?;
        for line in spec.filter_lines {
            names.write(&NameRecord::Filter(line.clone()))?;
        }
        let number = latest
            .as_ref()
            .map_or(1, |one| (one.number & 0x3fff_ffff) + 1);
        *latest = Some(Recording {
            number,
            form: spec.form,
            late_since: spec.is_late.then(since_boot),
            nodes: Arc::default(),
            submissions: Submissions::default(),
            instrument,
            directory,
            names: TraceNames::new(names),
            filter: spec.filter,
            clock: spec.clock,
            caches: spec.caches.map(Arc::new),
            sampling_interval: spec.sampling_interval,
            source,
            probe: 0,
            excluded: 0,
            named: HashSet::new(),
            ended: VecDeque::new(),
            is_over: false,
        });
        let signed = number as i32;
        Ok(match spec.form {
            RecordingForm::Events => {
                self.active.store(number, Ordering::SeqCst);
                signed
            }
            RecordingForm::Contexts | RecordingForm::ExactContexts => -signed,
            RecordingForm::Accesses => {
                let caches = latest.as_ref().and_then(|one| one.caches.as_ref());
                let l1 = caches.and_then(|caches| caches.l1());
                self.begin_accesses(-signed, l1);
                -signed
            }
            // No call of such a recording is written by the recorder.
            RecordingForm::CompleteCalls | RecordingForm::Heap => 0,
        })
    }

    /// Whether a recorded instrument leaves a method out by its filter. Counts the method if so.
    /// `class` is dotted, `method` is a name without descriptor.
    pub fn excludes(&self, instrument: InstrumentId, class: &str, method: &str) -> bool {
        let mut latest = self.latest.lock();
        let Some(recording) = latest.as_mut().filter(|one| one.instrument == instrument) else {
            return false;
        };
        let is_excluded = !recording.filter.includes(class, method);
        recording.excluded += u64::from(is_excluded);
        is_excluded
    }

    /// The number of the recording of events that has not ended; 0 if there is none.
    fn active(&self) -> u32 {
        self.active.load(Ordering::Relaxed)
    }

    /// The mark of the recording that has not ended; see [`ProcessorTime::mark`].
    pub fn mark(&self) -> u64 {
        let latest = self.latest.lock();
        latest.as_ref().map_or(0, |one| one.source.mark())
    }

    /// The duration in ticks from which on the current recording has calls; 0 for all calls.
    pub fn shortest(&self) -> u64 {
        let latest = self.latest.lock();
        let recording = latest.as_ref().filter(|one| !one.is_over);
        let longer = recording.and_then(|one| Some((one.clock, one.filter.longer?)));
        longer.map_or(0, |(clock, longer)| clock.ticks_of(longer))
    }

    /// The kinds of events of the JVM that an instrument's recording asks for.
    pub fn observed(&self, instrument: InstrumentId) -> VmEventKinds {
        let latest = self.latest.lock();
        let recording = latest.as_ref().filter(|one| one.instrument == instrument);
        match recording {
            Some(one) if one.form == RecordingForm::Events => one.filter.events(),
            // The caches are emptied after a collection.
            Some(one) if one.form == RecordingForm::Accesses => {
                let mut kinds = VmEventKinds::NONE;
                kinds.insert(VmEventKind::Collection);
                kinds
            }
            Some(one) if one.form == RecordingForm::Heap => {
                let mut kinds = VmEventKinds::NONE;
                kinds.insert(VmEventKind::Allocate);
                kinds
            }
            _ => VmEventKinds::NONE,
        }
    }

    /// The sampling interval and the directory of the recording of heap allocations that has not ended.
    pub fn heap_recording(&self) -> Option<(u64, PathBuf)> {
        let latest = self.latest.lock();
        let recording = latest.as_ref().filter(|one| !one.is_over)?;
        Some((recording.sampling_interval?, recording.directory.clone()))
    }

    /// Whether an instrument has a recording that has not ended.
    pub fn records(&self, instrument: InstrumentId) -> bool {
        let latest = self.latest.lock();
        latest
            .as_ref()
            .is_some_and(|one| one.instrument == instrument && !one.is_over)
    }

    /// Whether the id of a method in the current trace would be that of an earlier one.
    pub fn is_named(&self, slot: CounterSlot) -> bool {
        let latest = self.latest.lock();
        latest.as_ref().is_some_and(|one| one.named.contains(&slot))
    }

    /// Writes the name of a method, before its first event.
    pub fn name_frame(&self, method: &RecordedMethod<'_>) {
        let mut latest = self.latest.lock();
        let Some(recording) = latest.as_mut().filter(|one| !one.is_over) else {
            return;
        };
        recording.named.insert(method.slot);
        let at = method.label.find('(').unwrap_or(method.label.len());
        let (name, descriptor) = method.label.split_at(at);
        recording.names.write(&NameRecord::Frame(FrameRecord {
            id: method.slot.0.into(),
            kind: FrameKind::Method,
            class: method.class.into(),
            name: name.into(),
            descriptor: descriptor.into(),
            line: method.line.map_or(0, u32::from),
            probe: recording.probe,
        }));
    }

    /// Opens the track of a shard for its owner, the current thread. Returns its address, or 0 if
    /// the thread cannot be recorded. `number` is the one that [`Recorder::begin`] returned.
    pub fn open(&self, shard: usize, number: i32, thread: RecordedThread) -> i64 {
        let Ok(number) = u32::try_from(number) else {
            return self.open_contexts(shard, number, thread);
        };
        let Some(track) = self.tracks.get(shard) else {
            return 0;
        };
        // An event of the JVM has opened the track while `VeneerTrace` was about to do so.
        if self.get(shard, 0) == i64::from(number) && self.active() == number {
            return self.track_address(shard);
        }
        // SAFETY: a system call without arguments, which cannot fail.
        let os_id = unsafe { libc::gettid() };
        let mut opened = self.open_track(number, thread, u64::try_from(os_id).unwrap_or(0));
        if let Some((track, source)) = &mut opened {
            let word = track.watch(*source);
            self.set(shard, SWITCH, word as i64);
        }
        let opened = opened.map(|(track, _)| track);
        let is_open = opened.is_some();
        // Dropping the former writer unmaps its segment. The owner of the track is here, so no
        // store is under way.
        *track.lock() = opened;
        for word in [AT, END, LAST, DEPTH, FRESH] {
            self.set(shard, word, 0);
        }
        let number = i64::from(number);
        self.set(shard, 0, if is_open { number } else { -number });
        match is_open {
            true => self.track_address(shard),
            false => 0,
        }
    }

    fn track_address(&self, shard: usize) -> i64 {
        self.words.address() + (shard * TRACK_WORDS * 8) as i64
    }

    /// Writes an event of the current thread, which owns the shard. `now` is the time by the clock of
    /// the recording. If the thread was switched out, a reading of its clock precedes the
    /// event, which then has the time of the reading.
    pub fn write(&self, shard: usize, kind: u8, id: u64, now: u64) {
        self.with_track(shard, |track| track.write(kind, now, id, &[]));
    }

    /// Writes events of the current thread, which owns the shard, if its track is open.
    fn with_track(&self, shard: usize, write: impl FnOnce(&mut Track)) {
        let Some(track) = self.tracks.get(shard) else {
            return;
        };
        let mut track = track.lock();
        let Some(track) = track
            .as_mut()
            .filter(|track| i64::from(track.recording) == self.get(shard, 0))
        else {
            return;
        };
        track.writer.set_position(self.position(shard));
        write(track);
        let position = track.writer.position();
        self.set(shard, AT, position.at as i64);
        self.set(shard, END, position.end as i64);
        self.set(shard, LAST, position.last as i64);
        self.set(shard, DEPTH, position.depth.into());
        // The event may be in another segment, and it follows the entries before it.
        self.set(shard, FRESH, 0);
    }

    /// Creates the events file of a thread, and writes the thread's name. The result also has the
    /// source of processor times.
    fn open_track(
        &self,
        number: u32,
        thread: RecordedThread,
        os_id: u64,
    ) -> Option<(Track, ProcessorTime)> {
        let mut latest = self.latest.lock();
        let recording = latest.as_mut().filter(|one| !one.is_over)?;
        let writer = match number {
            CALIBRATION => recording.create_calibration_file()?,
            _ if number != recording.number => return None,
            // The tracks of the JVM belong to no thread of the program.
            _ if thread.java_id != 0 && !recording.filter.includes_thread(&thread.name) => {
                return None;
            }
            _ => recording.create_file(thread, os_id)?,
        };
        let track = Track::new(writer, number, recording.clock);
        Some((track, recording.source))
    }

    /// Uses the names of the current recording; `None` if there is none.
    fn name<T>(&self, use_names: impl FnOnce(&mut TraceNames) -> T) -> Option<T> {
        let mut latest = self.latest.lock();
        let recording = latest.as_mut().filter(|one| !one.is_over)?;
        Some(use_names(&mut recording.names))
    }

    /// The thread that owns a shard ends: completes its events file.
    pub fn thread_ends(&self, shard: usize) {
        let Some(track) = self.tracks.get(shard) else {
            return;
        };
        let ended = track.lock().take();
        if let Some(ended) = ended {
            self.close(shard, ended);
        }
        self.complete_contexts(shard);
        self.complete_accesses(shard);
        // The next owner of the shard must find nothing that leads to the files.
        for word in 0..TRACK_WORDS {
            self.set(shard, word, 0);
        }
    }

    /// Writes the rate of the clock, which is known better at the end of a recording than at its
    /// beginning.
    pub fn write_rate(&self, instrument: InstrumentId, clock: TraceClock) {
        let mut latest = self.latest.lock();
        let recording = latest.as_mut().filter(|one| one.instrument == instrument);
        if let Some(recording) = recording.filter(|one| !one.is_over) {
            let record = clock.record(clock.now(), unix_time());
            recording.names.write(&NameRecord::Clock(record));
        }
    }

    /// Ends the recording of an instrument: completes all files. `VeneerTrace` must have been told
    /// before that the recording is over.
    pub fn end(&self, instrument: InstrumentId) {
        let number = {
            let mut latest = self.latest.lock();
            let Some(recording) = latest.as_mut().filter(|one| one.instrument == instrument) else {
                return;
            };
            recording.is_over = true;
            self.active.store(0, Ordering::SeqCst);
            self.active_accesses.store(0, Ordering::SeqCst);
            recording.number
        };
        self.complete_all_contexts(number);
        self.complete_all_accesses(number);
        for track in &self.jvm {
            let ended = track.lock().take();
            if let Some(ended) = ended.filter(|one| one.recording == number) {
                self.complete(ended);
            }
        }
        for (shard, track) in self.tracks.iter().enumerate() {
            let mut track = track.lock();
            let Some(track) = track.as_mut().filter(|one| one.recording == number) else {
                continue;
            };
            track.writer.set_position(self.position(shard));
            if let Err(error) = with_file_size_signal_blocked(|| track.writer.close()) {
                self.note(number, &error.to_string());
            }
        }
    }

    /// Returns the state of an instrument's recording; `None` if the instrument never recorded, or
    /// another recording followed.
    pub fn summary(&self, instrument: InstrumentId) -> Option<RecordingSummary> {
        let latest = self.latest.lock();
        let recording = latest.as_ref().filter(|one| one.instrument == instrument)?;
        Some(RecordingSummary {
            directory: recording.directory.display().to_string(),
            threads: recording.names.file_count(),
            methods: recording.named.len() as u64,
            excluded_methods: recording.excluded,
            problem: recording.names.problem.clone(),
        })
    }

    /// Completes the file of a track whose owner is the current thread.
    fn close(&self, shard: usize, mut track: Track) {
        if i64::from(track.recording) == self.get(shard, 0) {
            track.writer.set_position(self.position(shard));
        }
        self.complete(track);
    }

    /// Completes the file of a track.
    fn complete(&self, mut track: Track) {
        self.note_end(&track);
        if let Err(error) = with_file_size_signal_blocked(|| track.writer.close()) {
            self.note(track.recording, &error.to_string());
        }
    }

    /// Remembers that a thread has ended, if its events file is not kept for ever.
    fn note_end(&self, track: &Track) {
        let mut latest = self.latest.lock();
        let recording = latest.as_mut().filter(|one| one.number == track.recording);
        if let Some(recording) = recording.filter(|one| one.filter.keep_last.is_some()) {
            let ended = (recording.clock.now(), track.writer.thread());
            recording.ended.push_back(ended);
        }
    }

    /// Keeps the first problem of a recording.
    fn note(&self, number: u32, problem: &str) {
        let mut latest = self.latest.lock();
        if let Some(recording) = latest.as_mut().filter(|one| one.number == number) {
            recording.names.problem.get_or_insert(problem.into());
        }
    }

    fn position(&self, shard: usize) -> WriterPosition {
        WriterPosition {
            at: self.get(shard, AT) as usize,
            end: self.get(shard, END) as usize,
            last: self.get(shard, LAST) as u64,
            depth: u32::try_from(self.get(shard, DEPTH)).unwrap_or(0),
        }
    }

    fn get(&self, shard: usize, word: usize) -> i64 {
        self.words.get(shard * TRACK_WORDS + word)
    }

    fn set(&self, shard: usize, word: usize, value: i64) {
        self.words.set(shard * TRACK_WORDS + word, value);
    }
}

impl Recording {
    /// Creates the events file of a thread, and writes the thread's name.
    fn create_file(&mut self, thread: RecordedThread, os_id: u64) -> Option<ThreadWriter> {
        let clock = self.clock;
        let keep = self.filter.keep_last.map(|last| clock.ticks_of(last));
        if let Some(keep) = keep {
            self.remove_ended(clock.now().saturating_sub(keep));
        }
        let number = self.names.thread_with_file(thread, os_id);
        let segments = MAX_RING_SEGMENTS;
        let options = WriterOptions {
            segment_bytes: SEGMENT_BYTES,
            ring: keep.map(|keep| SegmentRing { segments, keep }),
        };
        match ThreadWriter::create(&self.directory, number, options) {
            Ok(writer) => Some(writer),
            Err(error) => {
                self.names.withdraw_file(number);
                self.names.problem.get_or_insert(error.to_string());
                None
            }
        }
    }

    /// Removes the events files of threads that ended before a time.
    fn remove_ended(&mut self, before: u64) {
        while let Some((time, number)) = self.ended.front().copied()
            && time < before
        {
            self.ended.pop_front();
            // A file that remains is a part of the trace.
            if std::fs::remove_file(self.directory.join(events_file(number))).is_ok() {
                self.names.withdraw_file(number);
            }
        }
    }
}

/// The time in nanoseconds since 1970.
fn unix_time() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |time| time.as_nanos() as u64)
}

/// Creates the directory `‹data›-trace-1`, or one with the next free number.
fn make_directory(data: &Path) -> Result<PathBuf, RecordError> {
    if let Some(root) = data.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(root);
        made.map_err(|error| TraceError::io(root, error))?;
    }
    for n in 1..=MAX_TRACES {
        let mut path = data.as_os_str().to_owned();
        path.push(format!("-trace-{n}"));
        let path = PathBuf::from(path);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(TraceError::io(&path, error).into()),
        }
    }
    Err(RecordError::TooMany(data.display().to_string()))
}

#[cfg(test)]
mod tests;
