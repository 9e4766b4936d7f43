//! The segment that this process writes. It becomes visible to others when it is published.

use crate::digest::{BuildId, ClassKey, Digest};
use crate::folder::CacheFolder;
use crate::segment::{COMPLETE, HEADER_BYTES, IndexEntry, PARTIAL, header, index_and_footer};
use crate::segment_file::{GuardedWrite, SegmentFile};
use crate::stored_file::StoredFile;
use rustix::fs::{FlockOperation, flock};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The most attempts to find a file name that no other process has chosen.
const MAX_NAMES: usize = 20;

pub(crate) struct SegmentWriter {
    file: Arc<SegmentFile>,
    /// The name without its end.
    stem: String,
    pub(crate) index: Vec<IndexEntry>,
    /// The number of bytes in the file, written or not.
    pub(crate) length: u64,
    pub(crate) created: Instant,
    pub(crate) last_append: Instant,
}

impl SegmentWriter {
    pub(crate) fn create(
        folder: &CacheFolder,
        build: BuildId,
        write: GuardedWrite,
    ) -> io::Result<SegmentWriter> {
        let mut result = Err(io::ErrorKind::AlreadyExists.into());
        for _ in 0..MAX_NAMES {
            let stem = format!("{build}-{:016x}", unique_number());
            result = folder
                .create_file(&(stem.clone() + PARTIAL))
                .map(|file| (stem, file));
            match &result {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                _ => break,
            }
        }
        let (stem, file) = result?;
        // Without locks, others decide by the age of the file whether its writer is alive.
        let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
        let file = Arc::new(SegmentFile::new(file, 0, write));
        file.append(&[&header(build)]);
        Ok(SegmentWriter {
            file,
            stem,
            index: Vec::new(),
            length: HEADER_BYTES as u64,
            created: Instant::now(),
            last_append: Instant::now(),
        })
    }

    /// Appends a class, and returns its original class file. Returns `None` if the file takes no
    /// more.
    pub(crate) fn append(
        &mut self,
        key: ClassKey,
        hot: &[u8],
        original: &[u8],
        digest: Digest,
    ) -> Option<StoredFile> {
        let hot_len = u32::try_from(hot.len()).ok()?;
        let original_len = u32::try_from(original.len()).ok()?;
        let next = u32::try_from(self.length).ok()?;
        next.checked_add(hot_len)?.checked_add(original_len)?;
        let offset = self.file.append(&[hot, original])?;
        self.index.push(IndexEntry {
            key,
            offset: next,
            hot_len,
            original_len,
            sum: u32::from_le_bytes(*hot.first_chunk()?),
        });
        self.length += u64::from(hot_len) + u64::from(original_len);
        self.last_append = Instant::now();
        let original_at = offset + u64::from(hot_len);
        Some(StoredFile::in_file(
            self.file.clone(),
            original_at,
            original_len,
            digest,
        ))
    }

    /// Completes the segment and renames it. Returns its name, its file and its sorted index. The
    /// partial file is deleted if that fails.
    pub(crate) fn publish(
        mut self,
        folder: &CacheFolder,
    ) -> io::Result<(String, Arc<SegmentFile>, Vec<IndexEntry>)> {
        let part = self.stem.clone() + PARTIAL;
        let complete = self.stem.clone() + COMPLETE;
        let end = index_and_footer(&mut self.index, self.length);
        let is_appended = self.file.append(&[&end]).is_some();
        let written = match is_appended {
            true => self.file.flush(),
            false => Err(io::ErrorKind::StorageFull.into()),
        };
        let renamed = written.and_then(|()| folder.rename(&part, &complete));
        // The lock would outlive the writing, and the name of a complete segment needs none.
        let _ = flock(self.file.file(), FlockOperation::Unlock);
        match renamed {
            Ok(()) => Ok((complete, self.file, self.index)),
            Err(error) => {
                let _ = folder.remove(&part);
                Err(error)
            }
        }
    }

    /// Deletes the partial file. Original class files can still be read from the open file.
    pub(crate) fn abandon(self, folder: &CacheFolder) {
        let _ = folder.remove(&(self.stem + PARTIAL));
    }

    /// Whether a write has failed.
    pub(crate) fn is_broken(&self) -> bool {
        self.file.is_broken()
    }
}

/// A number that no other process is likely to choose. A collision costs one further attempt.
fn unique_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanoseconds = since.map_or(0, |d| d.as_nanos() as u64);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let text = format!("{nanoseconds} {} {n}", std::process::id());
    Digest::new(text.as_bytes()).0 as u64
}
