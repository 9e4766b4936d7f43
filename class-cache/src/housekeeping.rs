//! Deleting old segments and the remains of killed processes.

use crate::folder::{CacheFolder, FolderFile};
use crate::segment::{COMPLETE, PARTIAL};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::time::{SystemTime, UNIX_EPOCH};

/// The size to which the agent limits the cache folder.
pub const DEFAULT_MAX_BYTES: u64 = 256 << 20;
/// The most segments in the folder. Each one of its build costs a JVM some system calls at its start.
const MAX_SEGMENTS: usize = 64;
/// A partial file is not deleted before this age, because its writer may be about to lock it.
const MIN_PART_AGE: i64 = 60;
/// On a file system without locks, a partial file is deleted at this age.
const MAX_PART_AGE: i64 = 24 * 60 * 60;

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| d.as_secs() as i64)
}

/// The contents of a cache folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// The number of complete segments of all builds.
    pub segments: usize,
    /// The number of files that processes are writing or have left behind.
    pub partial: usize,
    /// The bytes of all these files.
    pub bytes: u64,
}

impl CacheFolder {
    /// The number and size of the files in the folder. Unknown files are not counted.
    pub fn measure(&self) -> CacheUse {
        let mut found = CacheUse::default();
        for file in self.files().unwrap_or_default() {
            let is_complete = file.name.ends_with(COMPLETE);
            if is_complete || file.name.ends_with(PARTIAL) {
                found.segments += usize::from(is_complete);
                found.partial += usize::from(!is_complete);
                found.bytes += file.length;
            }
        }
        found
    }

    /// Deletes the remains of killed processes, and then the segments that were not used for the
    /// longest time, until the rest is within the limits.
    pub(crate) fn tidy(&self, max_bytes: u64) {
        let now = now();
        let (mut complete, mut bytes) = (Vec::new(), 0);
        for file in self.files().unwrap_or_default() {
            if file.name.ends_with(COMPLETE) {
                bytes += file.length;
                complete.push(file);
            } else if file.name.ends_with(PARTIAL) {
                if self.is_abandoned(&file, now) {
                    let _ = self.remove(&file.name);
                } else {
                    bytes += file.length;
                }
            }
        }
        complete.sort_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
        let mut count = complete.len();
        for oldest in &complete {
            if bytes <= max_bytes && count <= MAX_SEGMENTS {
                return;
            }
            if self.remove(&oldest.name).is_ok() {
                bytes -= oldest.length;
                count -= 1;
            }
        }
    }

    /// Whether no process writes to a partial file any more.
    fn is_abandoned(&self, file: &FolderFile, now: i64) -> bool {
        let age = now.saturating_sub(file.modified);
        if age < MIN_PART_AGE {
            return false;
        }
        let Ok(open) = self.open_file(&file.name) else {
            return false;
        };
        match flock(&open, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(Errno::WOULDBLOCK) => false,
            Err(_) => age >= MAX_PART_AGE,
        }
    }
}
