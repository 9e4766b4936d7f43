//! The recording of lifetimes: the clocks outside the heap, the rows that `VeneerLives` hands over, and the
//! file that has them in the end.
//!
//! ```text
//!   ‹data›/4711-lives-1/lives.vmem   a memory profile whose allocations have lifetimes
//! ```
//!
//! A recording begins with the first instrument whose code follows objects, and ends with the last one.
//! Application threads and the callback of collections access the clocks. The plan thread does everything
//! else. No thread calls the JVM while it holds the lock of this file.

use crate::data::coarse_clock::CoarseClock;
use crate::data::memory::WordTable;
use crate::data::trace_clock::TraceClock;
use crate::jvm::runtime_table;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use veneer_instruments::{InstrumentId, RecordingSummary};
use veneer_memory::profile::{AllocationRow, MemoryProfile, Site};
use veneer_memory::{CLOCKS, Lifetimes, LogHistogram, Span};

/// The file of a recording.
const FILE: &str = "lives.vmem";
/// The most directories with the lifetimes of one process.
const MAX_RECORDINGS: u32 = 10_000;
/// The interval at which the time of lives is written.
const INTERVAL: Duration = Duration::from_millis(1);

const BYTES: usize = runtime_table::LIVES_BYTES as usize / 8;
const ACCESSES: usize = runtime_table::LIVES_ACCESSES as usize / 8;
const COLLECTIONS: usize = runtime_table::LIVES_COLLECTIONS as usize / 8;
const LATEST: usize = runtime_table::LIVES_LATEST as usize / 8;
const BUFFER: usize = runtime_table::LIVES_BUFFER as usize / 8;
const SPANS: usize = runtime_table::LIVES_SPANS as usize;
const ROW_WORDS: usize = runtime_table::LIVES_ROW_WORDS as usize;
/// The number of counts of a histogram.
const LENGTHS: usize = (ROW_WORDS - SPANS) / (3 * CLOCKS + 1);

/// The recorder. See the module documentation.
pub struct LifetimeRecorder {
    words: WordTable,
    clock: CoarseClock,
    is_active: AtomicBool,
    latest: Mutex<Recording>,
}

/// The current recording, or the latest one.
#[derive(Default)]
struct Recording {
    /// All instruments of the recording.
    instruments: BTreeSet<InstrumentId>,
    /// Those that are attached.
    attached: BTreeSet<InstrumentId>,
    directory: PathBuf,
    /// The most objects that are followed at a time.
    limit: u64,
    profile: MemoryProfile,
    problem: Option<String>,
}

impl Default for LifetimeRecorder {
    fn default() -> LifetimeRecorder {
        LifetimeRecorder {
            words: WordTable::new(BUFFER + ROW_WORDS),
            clock: CoarseClock::default(),
            is_active: AtomicBool::new(false),
            latest: Mutex::default(),
        }
    }
}

impl LifetimeRecorder {
    /// Adds an instrument. If it is the first one, creates the directory of a new recording beside `data`,
    /// and returns the addresses of the clocks and of the time.
    ///
    /// # Errors
    /// The directory cannot be created, or the system starts no thread.
    pub fn join(&self, id: InstrumentId, data: &Path) -> io::Result<Option<(i64, i64)>> {
        let mut latest = self.latest.lock();
        if !latest.attached.is_empty() {
            latest.attached.insert(id);
            latest.instruments.insert(id);
            return Ok(None);
        }
        let directory = make_directory(data)?;
        let time = self.clock.start(TraceClock::Nanoseconds, INTERVAL)?;
        for word in 0..BUFFER {
            self.words.set(word, 0);
        }
        *latest = Recording {
            instruments: BTreeSet::from([id]),
            attached: BTreeSet::from([id]),
            directory,
            ..Recording::default()
        };
        self.is_active.store(true, Ordering::SeqCst);
        Ok(Some((self.words.address(), time)))
    }

    /// Whether objects are followed.
    pub fn is_active(&self) -> bool {
        self.is_active.load(Ordering::Relaxed)
    }

    /// Notes the end of a collection. All application threads are stopped.
    pub fn collected(&self) {
        if !self.is_active() {
            return;
        }
        let collections = self.words.get(COLLECTIONS) + 1;
        self.words.set(COLLECTIONS, collections);
        let now = [
            self.words.get(BYTES),
            self.words.get(ACCESSES),
            self.clock.latest(),
            collections,
        ];
        for (offset, value) in now.into_iter().enumerate() {
            self.words.set(LATEST + offset, value);
        }
    }

    /// Removes an instrument. Returns whether it was the last one of the recording.
    pub fn leave(&self, id: InstrumentId) -> bool {
        let mut latest = self.latest.lock();
        let is_last = latest.attached.remove(&id) && latest.attached.is_empty();
        if is_last {
            self.is_active.store(false, Ordering::SeqCst);
        }
        is_last
    }

    /// Adds the row whose words are in the buffer. The site is written as
    /// `veneer_probes::Scope::site` does.
    pub fn add_row(&self, site: &str, type_name: &str) {
        let words: Vec<u64> = (BUFFER..BUFFER + ROW_WORDS)
            .map(|word| self.words.get(word).max(0) as u64)
            .collect();
        let [objects, void, alive, size] = [0, 1, 2, 3].map(|word| words[word]);
        let bytes = |count: u64| count.saturating_mul(size);
        let mut histograms = words[SPANS..].chunks_exact(LENGTHS).map(histogram);
        let lifetimes = Lifetimes {
            objects,
            bytes: bytes(objects),
            void,
            alive,
            alive_bytes: bytes(alive),
            used: span(&mut histograms),
            drag: span(&mut histograms),
            life: span(&mut histograms),
            survived: histograms.next().unwrap_or_default(),
        };
        if objects == 0 {
            return;
        }
        let profile = &mut self.latest.lock().profile;
        let site = index(&mut profile.sites, parse_site(site));
        let type_id = index(&mut profile.types, Arc::from(type_name));
        profile.allocations.push(AllocationRow {
            site,
            type_id,
            objects,
            bytes: bytes(objects),
            lifetimes: Some(Box::new(lifetimes)),
            ..AllocationRow::default()
        });
    }

    /// Notes the most objects that are followed at a time.
    pub fn set_limit(&self, limit: u64) {
        self.latest.lock().limit = limit;
    }

    /// Writes the file of the recording that has ended. `untracked` is the number of objects that were
    /// not followed.
    pub fn write(&self, untracked: u64) {
        self.clock.stop();
        let mut latest = self.latest.lock();
        let limit = latest.limit;
        let mut profile = std::mem::take(&mut latest.profile);
        if untracked > 0 {
            profile.notes.push(format!(
                "{untracked} objects were not followed, because at most {limit} objects are followed at a time in this heap, or because the heap was full"
            ));
        }
        if let Err(error) = write_file(&latest.directory, &profile) {
            latest.problem = Some(error.to_string());
        }
    }

    /// Ends a recording that could not begin.
    pub fn abandon(&self, id: InstrumentId) {
        self.leave(id);
        self.clock.stop();
        let latest = std::mem::take(&mut *self.latest.lock());
        let _ = fs::remove_dir(&latest.directory);
    }

    /// The first error while the file was written.
    pub fn problem(&self) -> Option<String> {
        self.latest.lock().problem.clone()
    }

    /// The recording of an instrument that follows objects.
    pub fn summary(&self, id: InstrumentId) -> Option<RecordingSummary> {
        let latest = self.latest.lock();
        latest.instruments.contains(&id).then(|| RecordingSummary {
            directory: latest.directory.display().to_string(),
            threads: 0,
            methods: 0,
            excluded_methods: 0,
            problem: latest.problem.clone(),
        })
    }
}

fn histogram(counts: &[u64]) -> LogHistogram {
    let mut histogram = LogHistogram::default();
    for (bucket, count) in counts.iter().enumerate() {
        histogram.add_to_bucket(bucket, *count);
    }
    histogram
}

fn span(histograms: &mut impl Iterator<Item = LogHistogram>) -> Span {
    std::array::from_fn(|_| histograms.next().unwrap_or_default())
}

fn parse_site(text: &str) -> Site {
    let mut parts = text.split('\n').map(Arc::<str>::from);
    let mut next = || parts.next().unwrap_or_default();
    Site {
        class: next(),
        method: next(),
        line: next().parse().ok(),
        field: Arc::default(),
    }
}

/// The index of an element, which is added if it is missing.
fn index<T: PartialEq>(all: &mut Vec<T>, one: T) -> u32 {
    let found = all.iter().position(|known| *known == one);
    let index = found.unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    });
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn write_file(directory: &Path, profile: &MemoryProfile) -> io::Result<()> {
    let unfinished = directory.join("unfinished");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut out = BufWriter::new(options.open(&unfinished)?);
    profile.write(&mut out)?;
    out.flush()?;
    fs::rename(&unfinished, directory.join(FILE))
}

/// Creates the directory of a recording beside the data directory of this JVM.
fn make_directory(data: &Path) -> io::Result<PathBuf> {
    if let Some(root) = data.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(root)?;
    }
    for n in 1..=MAX_RECORDINGS {
        let mut path = data.as_os_str().to_owned();
        path.push(format!("-lives-{n}"));
        let path = PathBuf::from(path);
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|()| path),
        }
    }
    Err(io::Error::other(format!(
        "there are {MAX_RECORDINGS} recordings of lifetimes beside {}",
        data.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use veneer_memory::profile::ProfileFile;

    #[test]
    fn a_recording_begins_with_the_first_instrument_and_ends_with_the_last() {
        let scratch = ScratchDirectory::new();
        let recorder = LifetimeRecorder::default();
        let (one, other) = (InstrumentId(1), InstrumentId(2));
        let data = scratch.join("7");
        assert!(recorder.join(one, &data).expect("a directory").is_some());
        assert!(recorder.join(other, &data).expect("a directory").is_none());
        recorder.words.set(BYTES, 48);
        recorder.collected();
        assert_eq!(recorder.words.get(LATEST), 48);
        assert_eq!(recorder.words.get(LATEST + 3), 1);
        assert!(!recorder.leave(one) && recorder.leave(other) && !recorder.leave(other));
        recorder.collected();
        assert_eq!(recorder.words.get(COLLECTIONS), 1);
        for (word, value) in [(0, 3), (1, 1), (2, 2), (3, 24), (SPANS, 9)] {
            recorder.words.set(BUFFER + word, value);
        }
        recorder.add_row("a.B\nm(I)V\n17", "a.C");
        recorder.set_limit(10);
        recorder.write(5);
        let summary = recorder.summary(one).expect("a recording");
        assert_eq!(summary.problem, None);
        let file = fs::File::open(Path::new(&summary.directory).join(FILE)).expect("a file");
        let profile = ProfileFile::read(file).expect("a profile").profile;
        assert_eq!(profile.site_name(0), "a.B::m(I)V:17");
        let lives = profile.allocations[0].lifetimes.as_ref().expect("lives");
        assert_eq!((lives.objects, lives.void, lives.alive), (3, 1, 2));
        assert_eq!((lives.bytes, lives.alive_bytes), (72, 48));
        assert_eq!(lives.used[0].counts()[0], 9);
        assert!(profile.notes[0].starts_with("5 objects were not followed"));
        assert!(recorder.summary(InstrumentId(3)).is_none());
    }
}
