//! The recorder of event traces: one file for each thread, which the thread itself writes.
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
//! writes the events that do not fit into one word or into the segment.
//!
//! | caller                                  | thread                                          |
//! |-----------------------------------------|-------------------------------------------------|
//! | [`Recorder::begin`], [`Recorder::end`]  | plan thread                                     |
//! | [`Recorder::name_frame`]                | plan thread, threads that prepare classes       |
//! | [`Recorder::open`], [`Recorder::write`] | the application thread that owns the track      |
//! | [`Recorder::thread_ends`]               | the application thread that ends                |
//!
//! A mutex protects the recording, and another one the writer of each track. No thread calls the JVM
//! while it holds one of them.
//!
//! **Invariants:** only the owner of a track maps or unmaps its segments, because the owner may be
//! just storing a word. The plan thread detaches the memory of a segment from the file instead
//! ([`ThreadWriter::close`]). A name is in the names file before an event can use it.

use crate::data::append_file::with_file_size_signal_blocked;
use crate::data::memory::WordTable;
use crate::data::monotonic::monotonic;
use crate::jvm::runtime_table;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use thiserror::Error;
use veneer_instruments::{InstrumentId, RecordingSummary};
use veneer_names::CounterSlot;
use veneer_protocol::data::ShardLayout;
use veneer_traces::analysis::TraceFilter;
use veneer_traces::format::names::{ClockRecord, FrameKind, FrameRecord, ThreadRecord};
use veneer_traces::writer::{NamesWriter, ThreadWriter, WriterOptions, WriterPosition};
use veneer_traces::{NameRecord, TraceError};

/// The size of a segment. A segment of 256 KiB has 32,760 events; the thread waits some tens of
/// microseconds for the next one.
const SEGMENT_BYTES: u32 = 1 << 18;
/// The most directories with the traces of one process.
const MAX_TRACES: u32 = 10_000;

const TRACK_WORDS: usize = runtime_table::TRACK_BYTES as usize / 8;
const AT: usize = runtime_table::TRACK_AT as usize / 8;
const END: usize = runtime_table::TRACK_END as usize / 8;
const LAST: usize = runtime_table::TRACK_LAST as usize / 8;
const DEPTH: usize = runtime_table::TRACK_DEPTH as usize / 8;

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

/// A thread whose calls are recorded, as the thread itself describes itself.
pub struct RecordedThread {
    /// `Thread.threadId()`.
    pub java_id: u64,
    pub name: String,
    pub group: String,
}

/// A recording, current or ended.
struct Recording {
    number: u32,
    instrument: InstrumentId,
    directory: PathBuf,
    names: NamesWriter,
    filter: TraceFilter,
    /// The number of events files.
    threads: u32,
    /// The number of methods that the filter leaves out.
    excluded: u64,
    /// The methods that have a name in the trace.
    named: HashSet<CounterSlot>,
    /// The first error while names or files were written.
    problem: Option<String>,
    is_over: bool,
}

/// The writer of a track.
struct Track {
    writer: ThreadWriter,
    /// The number of the recording.
    recording: u32,
}

/// The recorder. See the module documentation.
pub struct Recorder {
    /// The tracks, in the order of the counter shards.
    words: WordTable,
    tracks: Box<[Mutex<Option<Track>>]>,
    /// The latest recording.
    latest: Mutex<Option<Recording>>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        let shards = ShardLayout::COUNT as usize;
        Recorder {
            words: WordTable::new(shards * TRACK_WORDS),
            tracks: (0..shards).map(|_| Mutex::new(None)).collect(),
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
    /// the names file in it. Returns the number of the recording, which is not 0. Nothing is
    /// recorded until `VeneerTrace` knows the number.
    ///
    /// # Errors
    /// Another recording has not ended, or the files cannot be created.
    pub fn begin(
        &self,
        instrument: InstrumentId,
        data: &Path,
        (jvm, jvm_version): (&str, &str),
        filter: (TraceFilter, &[String]),
    ) -> Result<u32, RecordError> {
        let mut latest = self.latest.lock();
        if let Some(other) = latest.as_ref().filter(|one| !one.is_over) {
            return Err(RecordError::Busy(other.instrument));
        }
        let directory = make_directory(data)?;
        let mut names = NamesWriter::create(&directory, std::process::id(), jvm, jvm_version)?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        names.write(&NameRecord::Clock(ClockRecord {
            ticks: monotonic(),
            unix_ns: since.map_or(0, |time| time.as_nanos() as u64),
            ..ClockRecord::default()
        }))?;
        names.write(&NameRecord::ProcessorTime("none".into()))?;
        for line in filter.1 {
            names.write(&NameRecord::Filter(line.clone()))?;
        }
        let number = latest
            .as_ref()
            .map_or(1, |one| one.number.wrapping_add(1).max(1) & 0x7fff_ffff);
        *latest = Some(Recording {
            number,
            instrument,
            directory,
            names,
            filter: filter.0,
            threads: 0,
            excluded: 0,
            named: HashSet::new(),
            problem: None,
            is_over: false,
        });
        Ok(number)
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
        recording.write(&NameRecord::Frame(FrameRecord {
            id: method.slot.0.into(),
            kind: FrameKind::Method,
            class: method.class.into(),
            name: name.into(),
            descriptor: descriptor.into(),
            line: method.line.map_or(0, u32::from),
            probe: 0,
        }));
    }

    /// Opens the track of a shard for its owner, the current thread. Returns its address, or 0 if
    /// the thread cannot be recorded.
    pub fn open(&self, shard: usize, number: u32, thread: RecordedThread) -> i64 {
        let Some(track) = self.tracks.get(shard) else {
            return 0;
        };
        let opened = {
            let mut latest = self.latest.lock();
            latest
                .as_mut()
                .filter(|one| one.number == number && !one.is_over)
                .and_then(|recording| recording.open_file(thread))
        };
        let is_open = opened.is_some();
        // Dropping the former writer unmaps its segment. The owner of the track is here, so no
        // store is under way.
        *track.lock() = opened.map(|writer| Track {
            writer,
            recording: number,
        });
        for word in [AT, END, LAST, DEPTH] {
            self.set(shard, word, 0);
        }
        let number = i64::from(number);
        self.set(shard, 0, if is_open { number } else { -number });
        match is_open {
            true => self.words.address() + (shard * TRACK_WORDS * 8) as i64,
            false => 0,
        }
    }

    /// Writes an event of the current thread, which owns the shard. `now` is the time by
    /// `System.nanoTime()`.
    pub fn write(&self, shard: usize, kind: u8, id: u64, now: u64) {
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
        with_file_size_signal_blocked(|| track.writer.event(kind, now, id));
        let position = track.writer.position();
        self.set(shard, AT, position.at as i64);
        self.set(shard, END, position.end as i64);
        self.set(shard, LAST, position.last as i64);
        self.set(shard, DEPTH, position.depth.into());
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
        self.set(shard, 0, 0);
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
            recording.number
        };
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
            threads: recording.threads,
            methods: recording.named.len() as u64,
            excluded_methods: recording.excluded,
            problem: recording.problem.clone(),
        })
    }

    /// Completes the file of a track whose owner is the current thread.
    fn close(&self, shard: usize, mut track: Track) {
        if i64::from(track.recording) == self.get(shard, 0) {
            track.writer.set_position(self.position(shard));
        }
        if let Err(error) = with_file_size_signal_blocked(|| track.writer.close()) {
            self.note(track.recording, &error.to_string());
        }
    }

    /// Keeps the first problem of a recording.
    fn note(&self, number: u32, problem: &str) {
        let mut latest = self.latest.lock();
        if let Some(recording) = latest.as_mut().filter(|one| one.number == number) {
            recording.problem.get_or_insert(problem.into());
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
    fn write(&mut self, record: &NameRecord) {
        let written = with_file_size_signal_blocked(|| self.names.write(record));
        if let Err(error) = written {
            self.problem.get_or_insert(error.to_string());
        }
    }

    /// Creates the events file of a thread, and writes the thread's name.
    fn open_file(&mut self, thread: RecordedThread) -> Option<ThreadWriter> {
        let number = self.threads + 1;
        let options = WriterOptions {
            segment_bytes: SEGMENT_BYTES,
            ring: None,
        };
        let writer = match ThreadWriter::create(&self.directory, number, options) {
            Ok(writer) => writer,
            Err(error) => {
                self.problem.get_or_insert(error.to_string());
                return None;
            }
        };
        self.threads = number;
        // SAFETY: a system call without arguments, which cannot fail.
        let os_id = unsafe { libc::gettid() };
        self.write(&NameRecord::Thread(ThreadRecord {
            id: number,
            java_id: thread.java_id,
            os_id: u64::try_from(os_id).unwrap_or(0),
            name: thread.name,
            group: thread.group,
            parent: 0,
        }));
        Some(writer)
    }
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
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use veneer_traces::format::word::kind;
    use veneer_traces::{Node, Trace, Visitor};

    const INSTRUMENT: InstrumentId = InstrumentId(4);

    /// The ids of nodes, with their depths, in the order of their ends.
    #[derive(Default)]
    struct Ended(Vec<(u64, u32)>);

    impl Visitor for Ended {
        fn leave(&mut self, node: &Node, _: &[veneer_traces::reader::OpenNode]) {
            self.0.push((node.id, node.depth));
        }
    }

    fn begin(recorder: &Recorder, data: &Path, rules: &str) -> Result<u32, RecordError> {
        let filter = TraceFilter::parse(rules).expect("a filter");
        recorder.begin(INSTRUMENT, data, ("VM", "25"), (filter, &[]))
    }

    fn thread(name: &str) -> RecordedThread {
        RecordedThread {
            java_id: 9,
            name: name.into(),
            group: "main".into(),
        }
    }

    /// Stores an event as `VeneerTrace` does: through the position of the track.
    fn store_as_java(recorder: &Recorder, shard: usize, word: u64, deeper: i64) {
        let at = recorder.get(shard, AT);
        assert_ne!(at, recorder.get(shard, END), "the segment has room");
        // SAFETY: the address is that of the next word of the mapped segment.
        unsafe { *(at as usize as *mut u64) = word };
        recorder.set(shard, AT, at + 8);
        recorder.set(shard, DEPTH, recorder.get(shard, DEPTH) + deeper);
    }

    fn ended(directory: &Path, number: u32) -> Vec<(u64, u32)> {
        let trace = Trace::open(directory).expect("a trace");
        let mut ended = Ended::default();
        let thread = trace.thread(number).expect("the thread");
        thread.read(&trace.names, &mut ended).expect("its events");
        ended.0
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no shared files")]
    fn events_of_java_code_and_of_the_writer_are_one_sequence() {
        let scratch = ScratchDirectory::new();
        let recorder = Recorder::default();
        let number = begin(&recorder, &scratch.join("1"), "").expect("a recording");
        assert_ne!(recorder.open(3, number, thread("worker")), 0);
        recorder.write(3, kind::ENTRY, 7, 100);
        store_as_java(&recorder, 3, u64::from(kind::ENTRY) | 8 << 8, 1);
        store_as_java(&recorder, 3, u64::from(kind::EXIT), -1);
        recorder.write(3, kind::EXIT, 0, 1 << 40);
        recorder.end(INSTRUMENT);
        let summary = recorder.summary(INSTRUMENT).expect("a summary");
        assert_eq!((summary.threads, &summary.problem), (1, &None));
        let directory = Path::new(&summary.directory);
        assert_eq!(ended(directory, 1), [(8, 1), (7, 0)]);
        let file = directory.join("thread-1.events");
        let length = std::fs::metadata(file).expect("the file").len();
        assert_eq!(length, 64 + 4 * 8, "a header and four words");
        // A store that was under way is not part of the file, and changes nothing.
        store_as_java(&recorder, 3, u64::from(kind::ENTRY) | 9 << 8, 1);
        recorder.write(3, kind::ENTRY, 10, 1 << 41);
        assert_eq!(ended(directory, 1), [(8, 1), (7, 0)]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no shared files")]
    fn a_shard_has_a_new_file_for_each_thread_and_each_recording() {
        let scratch = ScratchDirectory::new();
        let recorder = Recorder::default();
        let first = begin(&recorder, &scratch.join("1"), "").expect("a recording");
        let second = begin(&recorder, &scratch.join("1"), "");
        assert!(matches!(second, Err(RecordError::Busy(INSTRUMENT))));
        recorder.open(2, first, thread("a"));
        recorder.write(2, kind::ENTRY, 1, 5);
        recorder.thread_ends(2);
        recorder.open(2, first, thread("b"));
        recorder.write(2, kind::ENTRY, 2, 6);
        recorder.end(INSTRUMENT);
        let old = recorder.summary(INSTRUMENT).expect("a summary").directory;
        assert_eq!(recorder.open(2, first, thread("late")), 0, "it is over");
        let next = begin(&recorder, &scratch.join("1"), "").expect("a second recording");
        assert_ne!(next, first);
        recorder.open(2, next, thread("b"));
        recorder.write(2, kind::ENTRY, 3, 7);
        recorder.end(INSTRUMENT);
        let new = recorder.summary(INSTRUMENT).expect("a summary").directory;
        assert_ne!(old, new);
        assert_eq!(ended(Path::new(&old), 1), [(1, 0)]);
        assert_eq!(ended(Path::new(&old), 2), [(2, 0)]);
        assert_eq!(ended(Path::new(&new), 1), [(3, 0)]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no shared files")]
    fn a_directory_that_vanishes_is_a_problem_of_the_recording() {
        let scratch = ScratchDirectory::new();
        let recorder = Recorder::default();
        let number = begin(&recorder, &scratch.join("1"), "").expect("a recording");
        let directory = recorder.summary(INSTRUMENT).expect("a summary").directory;
        std::fs::remove_dir_all(&directory).expect("it is removed");
        assert_eq!(recorder.open(1, number, thread("a")), 0);
        assert_eq!(recorder.get(1, 0), -i64::from(number));
        let problem = recorder.summary(INSTRUMENT).and_then(|one| one.problem);
        assert!(problem.is_some_and(|text| text.contains(&directory)));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no directories")]
    fn the_filter_counts_what_it_leaves_out() {
        let scratch = ScratchDirectory::new();
        let recorder = Recorder::default();
        begin(&recorder, &scratch.join("1"), "excludemethod * <init>").expect("a recording");
        assert!(recorder.excludes(INSTRUMENT, "a.B", "<init>"));
        assert!(!recorder.excludes(INSTRUMENT, "a.B", "m"));
        assert!(!recorder.excludes(InstrumentId(9), "a.B", "<init>"));
        let summary = recorder.summary(INSTRUMENT).expect("a summary");
        assert_eq!(summary.excluded_methods, 1);
    }
}
