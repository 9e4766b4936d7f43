//! The cache of one process: the segments of its build, and the segment that it writes.

use crate::cached_class::CachedClass;
use crate::digest::{BuildId, ClassKey};
use crate::folder::{CacheFolder, FolderFault};
use crate::housekeeping::now;
use crate::segment::{COMPLETE, IndexEntry, Segment};
use crate::segment_file::GuardedWrite;
use crate::segment_writer::SegmentWriter;
use crate::stored_file::StoredFile;
use parking_lot::{Mutex, RwLock};
use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, futimens};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The age from which the time of a segment is renewed when a class is found in it.
const RENEWAL_AGE: i64 = 60 * 60;

/// The time without a new class that precedes a publication.
const QUIET_TIME: Duration = Duration::from_secs(2);
/// The size of a segment that does not wait longer than that.
const MANY_BYTES: u64 = 1 << 20;
/// The wait of a smaller segment, before the first publication of the process.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The settings of a cache.
#[derive(Clone, Debug)]
pub struct CacheSettings {
    /// The cache folder.
    pub folder: PathBuf,
    /// The build of this process. Segments of other builds are ignored.
    pub build: BuildId,
    /// The most bytes in the folder.
    pub max_bytes: u64,
    /// Runs each write.
    pub write: GuardedWrite,
}

/// The segment that this process writes.
enum Recording {
    /// No class has been stored since the last segment was published.
    Empty,
    Open(SegmentWriter),
    /// A write has failed, or this process has written its part of the folder's size.
    Closed,
}

/// A class that may be the wanted one.
#[derive(Clone)]
pub struct Candidate {
    segment: Arc<Segment>,
    entry: IndexEntry,
}

impl Candidate {
    /// Reads the hot section, which [`CachedClass::decode`] accepts. `None` if it is damaged.
    pub fn read(&self) -> Option<Vec<u8>> {
        let length = self.entry.hot_len as usize;
        let hot = self.segment.file.read(self.entry.offset.into(), length);
        let hot = hot.ok().filter(|hot| CachedClass::decode(hot).is_some());
        if hot.is_none() {
            self.segment.is_damaged.store(true, Ordering::Relaxed);
        }
        hot
    }

    /// Confirms that this is the wanted class. Returns its original class file, which is not read.
    pub fn accept(&self, class: &CachedClass) -> StoredFile {
        self.segment.is_used.store(true, Ordering::Relaxed);
        self.segment
            .original(&self.entry, class.original_len, class.original)
    }
}

/// The cache of one process. See the module documentation.
pub struct ClassCache {
    folder: CacheFolder,
    settings: CacheSettings,
    /// The newest segment is the first.
    segments: RwLock<Vec<Arc<Segment>>>,
    recording: Mutex<Recording>,
    /// The bytes that this process has written.
    written: Mutex<u64>,
    /// The number of publications of this process.
    published: AtomicU32,
}

impl ClassCache {
    /// Opens the folder, and reads the indexes of the segments of this build.
    ///
    /// # Errors
    /// The folder cannot be used, or is not that of this user alone.
    pub fn open(settings: CacheSettings) -> Result<ClassCache, FolderFault> {
        let cache = ClassCache {
            folder: CacheFolder::open(&settings.folder)?,
            settings,
            segments: RwLock::default(),
            recording: Mutex::new(Recording::Empty),
            written: Mutex::new(0),
            published: AtomicU32::new(0),
        };
        cache.find_segments();
        Ok(cache)
    }

    /// Opens the segments of this build that are not open yet.
    fn find_segments(&self) {
        let prefix = format!("{}-", self.settings.build);
        let mut known = self.segments.write();
        for file in self.folder.files().unwrap_or_default() {
            let is_known = known.iter().any(|segment| segment.name == file.name);
            if is_known || !file.name.starts_with(&prefix) || !file.name.ends_with(COMPLETE) {
                continue;
            }
            let build = self.settings.build;
            let opened = Segment::open(&self.folder, &file.name, file.modified, build);
            known.extend(opened.map(Arc::new));
        }
        known.sort_by_key(|segment| std::cmp::Reverse(segment.modified));
    }

    /// The classes that are stored under a key, the newest first.
    pub fn find(&self, key: ClassKey) -> Vec<Candidate> {
        let segments = self.segments.read();
        let candidates = segments.iter().flat_map(|segment| {
            let entries = segment.entries(key).iter();
            entries.map(|entry| Candidate {
                segment: segment.clone(),
                entry: *entry,
            })
        });
        candidates.collect()
    }

    /// Stores an armed class and its original class file. Returns the original class file as it is
    /// stored. Returns `None` if nothing can be stored; the process then keeps the class file
    /// itself.
    pub fn store(&self, key: ClassKey, class: &CachedClass, original: &[u8]) -> Option<StoredFile> {
        let hot = class.encode()?;
        let size = (hot.len() + original.len()) as u64;
        let mut recording = self.recording.lock();
        if let Recording::Empty = *recording {
            let (build, write) = (self.settings.build, self.settings.write);
            *recording = match SegmentWriter::create(&self.folder, build, write) {
                Ok(writer) => Recording::Open(writer),
                Err(_) => Recording::Closed,
            };
        }
        let Recording::Open(writer) = &mut *recording else {
            return None;
        };
        // Half of the folder's size for one process: others need room too.
        let has_room = *self.written.lock() + writer.length + size <= self.settings.max_bytes / 2;
        let stored = has_room.then(|| writer.append(key, &hot, original, class.original));
        let stored = stored.flatten();
        if stored.is_none() || writer.is_broken() {
            self.close(&mut recording);
        }
        stored
    }

    /// Stores nothing more. The classes so far are published, unless a write has failed.
    fn close(&self, recording: &mut Recording) {
        match std::mem::replace(recording, Recording::Closed) {
            Recording::Open(writer) if writer.is_broken() => writer.abandon(&self.folder),
            Recording::Open(writer) => {
                self.complete(writer);
            }
            Recording::Empty | Recording::Closed => {}
        }
    }

    /// Publishes the stored classes if none was added for some time, and if they are many or have
    /// waited for long. The longest wait doubles with each publication, so that a process which loads
    /// a few classes now and then writes few segments. Returns whether a segment was published.
    pub fn publish_if_due(&self) -> bool {
        let is_due = match &*self.recording.lock() {
            Recording::Open(writer) => {
                let longest =
                    MAX_WAIT * 2u32.saturating_pow(self.published.load(Ordering::Relaxed));
                writer.last_append.elapsed() >= QUIET_TIME
                    && (writer.length >= MANY_BYTES || writer.created.elapsed() >= longest)
            }
            Recording::Empty | Recording::Closed => false,
        };
        is_due && self.publish()
    }

    /// Publishes the stored classes for other processes, and renews the time of the segments that
    /// were used. Returns whether a segment was published.
    pub fn publish(&self) -> bool {
        self.renew_times();
        let writer = {
            let mut recording = self.recording.lock();
            match std::mem::replace(&mut *recording, Recording::Closed) {
                Recording::Open(writer) if writer.is_broken() => {
                    writer.abandon(&self.folder);
                    return false;
                }
                Recording::Open(writer) => {
                    *recording = Recording::Empty;
                    writer
                }
                other => {
                    *recording = other;
                    return false;
                }
            }
        };
        // Threads that load classes do not wait for this.
        self.complete(writer)
    }

    /// Completes a segment, if another process has not stored the same classes meanwhile.
    fn complete(&self, writer: SegmentWriter) -> bool {
        *self.written.lock() += writer.length;
        self.find_segments();
        if self.has_all(&writer.index) {
            writer.abandon(&self.folder);
            return false;
        }
        let Ok((name, file, index)) = writer.publish(&self.folder) else {
            return false;
        };
        let segment = Segment::new(name, file, index, now());
        self.published.fetch_add(1, Ordering::Relaxed);
        self.segments.write().insert(0, Arc::new(segment));
        self.folder.tidy(self.settings.max_bytes);
        true
    }

    /// Whether the segments have each of these classes, armed under the same selection.
    fn has_all(&self, entries: &[IndexEntry]) -> bool {
        let segments = self.segments.read();
        let has = |wanted: &IndexEntry| {
            let content = |e: &IndexEntry| (e.hot_len, e.original_len, e.sum);
            let is_same = |e: &IndexEntry| content(e) == content(wanted);
            let is_whole = |s: &&Arc<Segment>| !s.is_damaged.load(Ordering::Relaxed);
            let mut known = segments.iter().filter(is_whole);
            known.any(|segment| segment.entries(wanted.key).iter().any(is_same))
        };
        entries.iter().all(has)
    }

    /// Sets the time of the used segments, so that they are not the first to be deleted.
    fn renew_times(&self) {
        let segments = self.segments.read();
        let used = segments
            .iter()
            .filter(|s| s.is_used.swap(false, Ordering::Relaxed));
        for segment in used.filter(|s| now().saturating_sub(s.modified) >= RENEWAL_AGE) {
            let time = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
            let times = Timestamps {
                last_access: time(UTIME_OMIT),
                last_modification: time(UTIME_NOW),
            };
            // A folder that has become read-only keeps its order.
            let _ = futimens(segment.file.file(), &times);
        }
    }

    /// The number of classes in the segments that this process has open.
    pub fn len(&self) -> usize {
        let segments = self.segments.read();
        segments.iter().map(|segment| segment.len()).sum()
    }

    /// Whether no segment is open.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
