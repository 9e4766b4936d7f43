//! The tracks of a recording of memory accesses: a table and the state of the caches of each thread.
//!
//! ```text
//!   track    recording | table | state | collections | lost | size of an entry | caches
//!   caches   sizes of table, state | descriptions | address of collections | L1     one for the recording
//! ```
//!
//! `VeneerMemory` simulates the caches and counts in the table. Its words are those of
//! [`veneer_memory::accesses`]. The table is written to `thread-N.accesses` when the thread or the
//! recording ends. The number of the recording is negative in the track and in `VeneerMemory`.
//!
//! The first word of a track is `recording << 32 | 1` after a collection, until the thread has emptied
//! its caches.

use super::{Recorder, Recording, TRACK_WORDS};
use crate::data::access_form::AccessForm;
use crate::data::memory::WordTable;
use crate::data::recorder::access_track::AccessTrack;
use crate::data::recorder::curve_track::CurveTrack;
use crate::data::recorder::recorded_thread::RecordedThread;
use crate::data::shards::Shards;
use crate::jvm::runtime_table;
use std::sync::atomic::Ordering;
use veneer_instruments::InstrumentId;
use veneer_memory::accesses::TableTotals;
use veneer_names::CounterSlot;

const TABLE: usize = runtime_table::ACCESSES_TABLE as usize / 8;
const STATE: usize = runtime_table::ACCESSES_STATE as usize / 8;
const COLLECTIONS: usize = runtime_table::ACCESSES_COLLECTIONS as usize / 8;
const ENTRY_SHIFT: usize = runtime_table::ACCESSES_ENTRY_SHIFT as usize / 8;
const CACHES: usize = runtime_table::ACCESSES_CACHES as usize / 8;
const CURVE: usize = runtime_table::ACCESSES_CURVE as usize / 8;
const LOST: usize = runtime_table::ACCESSES_LOST as usize / 8;
/// The most sites that have a primary class.
const MAX_PRIMARY_CLASSES: usize = 1 << 21;
/// The most tables of a recording. Programs that start a thread for each task have many threads one after
/// another.
const MAX_ACCESS_FILES: u32 = 10_000;

impl Recorder {
    /// The address of the caches of the current recording; `None` if it is not one of accesses.
    pub fn caches_address(&self) -> Option<i64> {
        let latest = self.latest.lock();
        let caches = latest.as_ref()?.caches.as_ref()?;
        Some(caches.address())
    }

    /// The form of accesses in the current recording, for the code of versions.
    pub fn access_form(&self) -> AccessForm {
        let latest = self.latest.lock();
        let caches = latest.as_ref().and_then(|one| one.caches.as_ref());
        caches.map_or(AccessForm::default(), |caches| caches.access_form())
    }

    /// The counters of L1 of an instrument's recording, and their number.
    pub fn l1_counters(&self, instrument: InstrumentId) -> Option<(CounterSlot, u32)> {
        let latest = self.latest.lock();
        let recording = latest.as_ref().filter(|one| one.instrument == instrument)?;
        recording.caches.as_ref()?.l1()
    }

    /// The address of the lines that threads share, all of them unknown.
    pub fn shared_lines(&self) -> i64 {
        let words = (runtime_table::LINES << runtime_table::LINE_SHIFT) as usize / 8;
        let lines = self.shared_lines.get_or_init(|| WordTable::new(words));
        (0..words).for_each(|word| lines.set(word, 0));
        lines.address()
    }

    /// The address of the number of collections.
    pub fn collections_address(&self) -> i64 {
        self.collections.address()
    }

    /// The primary class of a site: this one, if the site has none yet.
    pub fn primary_class(&self, site: i64, class: i32) -> i32 {
        let mut primary = self.primary_classes.lock();
        if primary.len() >= MAX_PRIMARY_CLASSES {
            return primary.get(&site).copied().unwrap_or(0);
        }
        *primary.entry(site).or_insert(class)
    }

    /// The number of a site as the origin of objects; 0 if there are no more numbers.
    pub fn origin(&self, site: i64) -> i32 {
        self.origins.lock().number(site)
    }

    /// Opens the table of a shard for its owner, the current thread. Returns the address of the track,
    /// or 0 if the thread cannot be recorded. `number` is negative.
    pub fn open_accesses(&self, shard: usize, number: i32, thread: RecordedThread) -> i64 {
        let Some(track) = self.accesses.get(shard) else {
            return 0;
        };
        let opened = {
            let mut latest = self.latest.lock();
            latest
                .as_mut()
                .filter(|one| one.number == number.unsigned_abs() && !one.is_over)
                .and_then(|recording| recording.create_accesses(thread))
        };
        for word in 0..TRACK_WORDS {
            self.set(shard, word, 0);
        }
        if let Some(opened) = &opened {
            self.set(shard, TABLE, opened.table.as_ptr() as i64);
            self.set(shard, STATE, opened.state.as_ptr() as i64);
            self.set(shard, ENTRY_SHIFT, opened.caches.entry_shift().into());
            self.set(shard, CACHES, opened.caches.address());
            let curve = opened.curve.as_ref().map_or(0, CurveTrack::address);
            self.set(shard, CURVE, curve);
        }
        let is_open = opened.is_some();
        // The former table is freed. The owner of the track is here, so no store is under way.
        *track.lock() = opened;
        let number = i64::from(number);
        self.set(shard, 0, if is_open { number } else { -number });
        match is_open {
            true => self.words.address() + (shard * TRACK_WORDS * 8) as i64,
            false => 0,
        }
    }

    /// Takes the lines in the curve buffer of a shard's owner, the current thread, over. `moved`: the objects
    /// have moved since the accesses.
    pub fn take_curve(&self, shard: usize, moved: bool) {
        let Some(track) = self.accesses.get(shard) else {
            return;
        };
        let mut track = track.lock();
        let curve = track.as_mut().and_then(|track| track.curve.as_mut());
        if let Some(curve) = curve {
            curve.take(moved);
        }
    }

    /// A collection has moved objects: each thread empties its caches at its next access. The
    /// application is stopped. No function of the JVM is called.
    pub fn empty_caches(&self, shards: &Shards) {
        let number = i64::from(self.active_accesses.load(Ordering::Relaxed));
        if number == 0 {
            return;
        }
        self.collections.set(0, self.collections.get(0) + 1);
        for shard in 0..self.accesses.len() {
            if self.get(shard, 0) == number {
                self.set(shard, 0, number << 32 | 1);
                if let Some((first, count)) = self.active_l1() {
                    shards.clear_in(shard, first, count);
                }
            }
        }
    }

    /// The counters of L1 of the current recording.
    fn active_l1(&self) -> Option<(CounterSlot, u32)> {
        let packed = self.active_l1.load(Ordering::Relaxed);
        (packed != 0).then_some((CounterSlot((packed >> 32) as u32), packed as u32))
    }

    /// The number of a type's name in the current recording; 0 if there is none.
    pub fn number_type(&self, name: &str) -> u32 {
        self.name(|names| names.string(name)).unwrap_or(0)
    }

    /// A recording begins: no site has a primary class.
    pub(super) fn begin_accesses(&self, number: i32, l1: Option<(CounterSlot, u32)>) {
        self.primary_classes.lock().clear();
        self.origins.lock().begin();
        let packed = l1.map_or(0, |(slot, count)| {
            u64::from(slot.0) << 32 | u64::from(count)
        });
        self.active_l1.store(packed, Ordering::SeqCst);
        self.active_accesses.store(number, Ordering::SeqCst);
    }

    /// The JVM ends: writes the tables of the recording that has not ended.
    pub fn end_accesses(&self) {
        let number = self.active_accesses.swap(0, Ordering::SeqCst);
        if number != 0 {
            self.complete_all_accesses(number.unsigned_abs());
        }
    }

    /// The thread that owns a shard ends: writes its table.
    pub(super) fn complete_accesses(&self, shard: usize) {
        let ended = self.accesses.get(shard).and_then(|one| one.lock().take());
        if let Some(mut ended) = ended {
            self.write_accesses(shard, &mut ended);
        }
    }

    /// Writes the tables of a recording. They stay in memory, because their threads may be storing.
    pub(super) fn complete_all_accesses(&self, number: u32) {
        for (shard, track) in self.accesses.iter().enumerate() {
            if let Some(track) = track.lock().as_mut().filter(|one| one.recording == number) {
                self.write_accesses(shard, track);
            }
        }
    }

    fn write_accesses(&self, shard: usize, track: &mut AccessTrack) {
        let directory = {
            let latest = self.latest.lock();
            let recording = latest.as_ref().filter(|one| one.number == track.recording);
            recording.map(|one| one.directory.clone())
        };
        let Some(directory) = directory else { return };
        let totals = TableTotals {
            collections: self.get(shard, COLLECTIONS) as u64,
            lost: self.get(shard, LOST) as u64,
            windows: match track.caches.access_form().is_sampled {
                true => self.windows.count(),
                false => 0,
            },
        };
        if let Err(error) = track.write(&directory, totals) {
            self.note(
                track.recording,
                &format!("{}: {error}", directory.display()),
            );
        }
    }
}

impl Recording {
    /// Creates the table of the current thread, and writes the thread's name.
    fn create_accesses(&mut self, thread: RecordedThread) -> Option<AccessTrack> {
        let caches = self.caches.clone()?;
        if self.names.file_count() >= MAX_ACCESS_FILES {
            let problem =
                format!("the accesses of threads after the {MAX_ACCESS_FILES}th are not recorded");
            self.names.problem.get_or_insert(problem);
            return None;
        }
        // SAFETY: a system call without arguments, which cannot fail.
        let os_id = u64::try_from(unsafe { libc::gettid() }).unwrap_or(0);
        let thread = self.names.thread_with_file(thread, os_id);
        Some(AccessTrack::new(thread, self.number, caches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::recorder::RecordingSpec;
    use crate::data::recorder::recorded_caches::{
        RecordedCaches, RecordedWords, l1_lines, parse_caches,
    };
    use crate::data::scratch::ScratchDirectory;
    use crate::data::trace_clock::TraceClock;
    use std::path::Path;
    use veneer_instruments::{InstrumentId, RecordingForm};
    use veneer_memory::accesses::{AccessTable, accesses_file};
    use veneer_traces::analysis::TraceFilter;

    const INSTRUMENT: InstrumentId = InstrumentId(4);

    fn thread(java_id: u64) -> RecordedThread {
        RecordedThread {
            java_id,
            name: "worker".into(),
            group: "main".into(),
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no files of this kind")]
    fn a_table_is_written_when_its_thread_or_the_recording_ends() {
        let scratch = ScratchDirectory::new();
        let recorder = Recorder::default();
        let shards = Shards::create(&scratch.join("counters")).expect("shards");
        let lines = ["L1:1K/2/64".to_owned()];
        let descriptions = parse_caches(&lines).expect("caches");
        let l1 = shards.allocate(l1_lines(&descriptions).expect("a small L1"));
        let caches = RecordedCaches::new(
            &descriptions,
            l1,
            RecordedWords {
                collections: recorder.collections_address(),
                ..RecordedWords::default()
            },
        );
        let caches = caches.expect("a layout");
        let spec = RecordingSpec {
            form: RecordingForm::Accesses,
            filter: TraceFilter::parse("").expect("a filter"),
            filter_lines: &lines,
            is_late: false,
            clock: TraceClock::default(),
            caches: Some(caches),
            sampling_interval: None,
        };
        let begun = recorder.begin(INSTRUMENT, &scratch.join("1"), ("VM", "25"), spec);
        let number = begun.expect("a recording");
        assert!(number < 0 && recorder.caches_address().is_some());
        // Lines of 64 bytes, 8 sets of 16 bytes.
        assert_eq!(recorder.access_form().l1.0 >> 32, 6 | 3 << 8 | 16 << 16);
        assert_eq!(recorder.primary_class(5, 7), 7);
        assert_eq!(recorder.primary_class(5, 8), 7);
        let origins = [5, 9, 5].map(|site| recorder.origin(site));
        assert_eq!(origins, [2, 3, 2]);
        for (shard, java_id) in [(3, 8), (4, 9)] {
            assert_ne!(recorder.open_accesses(shard, number, thread(java_id)), 0);
            let tracks = recorder.accesses[shard].lock();
            let table = &tracks.as_ref().expect("a track").table;
            for (word, value) in [(16, 77), (18, 5), (19, 1000 + java_id as i64)] {
                table[word].store(value, Ordering::Relaxed);
            }
        }
        recorder.empty_caches(&shards);
        assert_eq!(recorder.get(3, 0), i64::from(number) << 32 | 1);
        assert_eq!(recorder.number_type("a.B"), recorder.number_type("a.B"));
        recorder.thread_ends(3);
        recorder.end(INSTRUMENT);
        let directory = recorder.summary(INSTRUMENT).expect("a summary").directory;
        for thread in [1, 2] {
            let path = Path::new(&directory).join(accesses_file(thread));
            let table = AccessTable::read(&path).expect("a table");
            let [entry] = &table.entries[..] else {
                panic!("{table:?}");
            };
            assert_eq!((entry.site, entry.accesses), (77, 1007 + u64::from(thread)));
        }
        assert_eq!(
            recorder.open_accesses(5, number, thread(10)),
            0,
            "it is over"
        );
    }
}
