//! The tracks of a recording of contexts: a tree for each thread instead of its events.
//!
//! The words of such a track are those of [`context_file`](crate::data::context_file). The number of
//! the recording is negative in the track and in `VeneerTrace`.

use super::{Recorder, Recording, SWITCH, TRACK_WORDS};
use crate::data::context_file::ContextFile;
use crate::data::processor_clock::ProcessorTime;
use crate::data::recorder::context_track::ContextTrack;
use crate::data::recorder::recorded_thread::RecordedThread;
use crate::data::thread_age::current_thread_began_before;
use crate::jvm::runtime_table;
use veneer_traces::format::context_node::{HAS_CPU, IS_LATE, NODE_BYTES};

const NODES: usize = runtime_table::CONTEXTS_NODES as usize / 8;
const USED: usize = runtime_table::CONTEXTS_USED as usize / 8;
const NODES_END: usize = runtime_table::CONTEXTS_END as usize / 8;
const INDEX: usize = runtime_table::CONTEXTS_INDEX as usize / 8;
const MASK: usize = runtime_table::CONTEXTS_MASK as usize / 8;
const CURRENT: usize = runtime_table::CONTEXTS_CURRENT as usize / 8;
const THREAD: usize = runtime_table::CONTEXTS_THREAD as usize / 8;

/// The bits of a word of a track that are the address of a node.
const ADDRESS: i64 = (1 << 47) - 1;

/// The tag of a recording in the words of a track, as in `VeneerContexts`. `number` is negative.
fn tag(number: i32) -> i64 {
    i64::MIN | (i64::from(number.unsigned_abs()) & 0x3fff) << 48
}

/// The most files of contexts of a recording. Programs that start a thread for each task have many
/// threads one after another.
const MAX_CONTEXT_FILES: u32 = 10_000;

impl Recorder {
    /// Opens the tree of a shard for its owner, the current thread. Returns the address of the track,
    /// or 0 if the thread cannot be recorded. `number` is negative.
    pub(super) fn open_contexts(&self, shard: usize, number: i32, thread: RecordedThread) -> i64 {
        let Some(track) = self.contexts.get(shard) else {
            return 0;
        };
        let opened = {
            let mut latest = self.latest.lock();
            latest
                .as_mut()
                .filter(|one| one.number == number.unsigned_abs() && !one.is_over)
                .and_then(|recording| recording.create_contexts(thread))
        };
        for word in 0..TRACK_WORDS {
            self.set(shard, word, 0);
        }
        if let Some(opened) = &opened {
            self.set_room(shard, &opened.file);
            self.set(shard, USED, NODE_BYTES as i64);
            self.set(shard, SWITCH, opened.switch_word());
            self.set(shard, THREAD, opened.thread.into());
            let [root, ..] = opened.file.addresses();
            self.set(shard, CURRENT, tag(number) | root);
        }
        let is_open = opened.is_some();
        // Dropping the former tree unmaps it. The owner of the track is here, so no store is under
        // way.
        *track.lock() = opened;
        let number = i64::from(number);
        self.set(shard, 0, if is_open { number } else { -number });
        match is_open {
            true => self.words.address() + (shard * TRACK_WORDS * 8) as i64,
            false => 0,
        }
    }

    /// Makes room for contexts of the current thread, which owns the shard. Returns false if there is
    /// none.
    pub fn grow(&self, shard: usize) -> bool {
        let Some(track) = self.contexts.get(shard) else {
            return false;
        };
        let mut track = track.lock();
        let is_current = |one: &&mut ContextTrack| -i64::from(one.recording) == self.get(shard, 0);
        let Some(track) = track.as_mut().filter(is_current) else {
            return false;
        };
        let has_grown = track.file.grow(&track.budget);
        match has_grown {
            true => self.set_room(shard, &track.file),
            false => self.set(shard, NODES_END, -1),
        }
        has_grown
    }

    /// The number of the submissions in a context of the current recording; `None` if there are too
    /// many.
    pub fn submission(&self, context: u64) -> Option<u32> {
        let mut latest = self.latest.lock();
        let recording = latest.as_mut().filter(|one| !one.is_over)?;
        recording.submissions.number(context, &recording.directory)
    }

    /// The current thread, which owns the shard, was switched out since the latest reading of its clock.
    /// Returns the moment of the new reading.
    pub fn switched(&self, shard: usize) -> Option<u64> {
        let mut track = self.contexts.get(shard)?.lock();
        let is_current = |one: &&mut ContextTrack| -i64::from(one.recording) == self.get(shard, 0);
        let track = track.as_mut().filter(is_current)?;
        track.switched(self.get(shard, CURRENT) & ADDRESS)
    }

    /// The thread that owns a shard ends: completes its tree.
    pub(super) fn complete_contexts(&self, shard: usize) {
        let ended = self.contexts.get(shard).and_then(|one| one.lock().take());
        if let Some(mut ended) = ended {
            ended.complete(self.get(shard, CURRENT) & ADDRESS);
        }
    }

    /// Completes the trees of a recording. They stay mapped, because their threads may be storing.
    pub(super) fn complete_all_contexts(&self, number: u32) {
        for (shard, track) in self.contexts.iter().enumerate() {
            if let Some(track) = track.lock().as_mut().filter(|one| one.recording == number) {
                track.complete(self.get(shard, CURRENT) & ADDRESS);
            }
        }
    }

    /// Stores the addresses of a tree, and the room in it.
    fn set_room(&self, shard: usize, file: &ContextFile) {
        let words = [NODES, NODES_END, INDEX, MASK];
        for (word, value) in words.into_iter().zip(file.addresses()) {
            self.set(shard, word, value);
        }
    }
}

impl Recording {
    /// Creates the tree of the current thread, and writes the thread's name.
    fn create_contexts(&mut self, thread: RecordedThread) -> Option<ContextTrack> {
        if self.names.file_count() >= MAX_CONTEXT_FILES {
            let problem = format!(
                "the calls of threads after the {MAX_CONTEXT_FILES}th are counted by method"
            );
            self.names.problem.get_or_insert(problem);
            return None;
        }
        // SAFETY: a system call without arguments, which cannot fail.
        let os_id = u64::try_from(unsafe { libc::gettid() }).unwrap_or(0);
        let number = self.names.thread_with_file(thread, os_id);
        let is_late = self.late_since.is_some_and(current_thread_began_before);
        let late = if is_late { IS_LATE } else { 0 };
        let cpu = match self.source {
            ProcessorTime::None => 0,
            ProcessorTime::Rseq | ProcessorTime::Clock => HAS_CPU,
        };
        match ContextFile::create(&self.directory, number, late | cpu, &self.nodes) {
            Ok(file) => Some(ContextTrack::new(
                (number, file),
                (self.number, self.nodes.clone()),
                self.clock,
                self.source,
            )),
            Err(error) => {
                self.names.withdraw_file(number);
                let problem = format!("{}: {error}", self.directory.display());
                self.names.problem.get_or_insert(problem);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::recorder::RecordingSpec;
    use crate::data::scratch::ScratchDirectory;
    use crate::data::trace_clock::TraceClock;
    use std::path::Path;
    use veneer_instruments::{InstrumentId, RecordingForm};
    use veneer_traces::ContextTree;
    use veneer_traces::analysis::TraceFilter;
    use veneer_traces::format::word::kind;

    const INSTRUMENT: InstrumentId = InstrumentId(4);

    fn thread(name: &str) -> RecordedThread {
        RecordedThread {
            java_id: 9,
            name: name.into(),
            group: "main".into(),
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no shared files")]
    fn a_recording_of_contexts_has_room_for_nodes_until_the_thread_ends() {
        let scratch = ScratchDirectory::new();
        let recorder = Recorder::default();
        let spec = RecordingSpec {
            form: RecordingForm::Contexts,
            filter: TraceFilter::parse("").expect("a filter"),
            filter_lines: &[],
            is_late: true,
            clock: TraceClock::default(),
            caches: None,
            sampling_interval: None,
        };
        let begun = recorder.begin(INSTRUMENT, &scratch.join("1"), ("VM", "25"), spec);
        let number = begun.expect("a recording");
        assert!(number < 0);
        assert_ne!(recorder.open(3, number, thread("worker")), 0);
        assert_eq!(recorder.get(3, 0), i64::from(number));
        let (room, mask) = (recorder.get(3, NODES_END), recorder.get(3, MASK));
        assert!(recorder.grow(3) && !recorder.grow(4));
        assert_eq!(recorder.get(3, NODES_END), 2 * room);
        assert_eq!(recorder.get(3, MASK), 2 * mask + 1);
        // An event of a trace is not written into the tree.
        recorder.write(3, kind::ENTRY, 7, 100);
        let directory = recorder.summary(INSTRUMENT).expect("a summary").directory;
        let trees = || ContextTree::read_all(Path::new(&directory)).expect("trees");
        assert!(!trees()[0].is_complete);
        recorder.thread_ends(3);
        assert!(trees()[0].is_complete);
        assert!(!recorder.grow(3), "the thread has ended");
        assert_ne!(recorder.open(3, number, thread("next")), 0);
        recorder.end(INSTRUMENT);
        assert_eq!(recorder.open(2, number, thread("late")), 0);
        let trees = trees();
        let complete: Vec<(u32, bool)> = trees.iter().map(|t| (t.thread, t.is_complete)).collect();
        assert_eq!(complete, [(1, true), (2, true)]);
    }
}
