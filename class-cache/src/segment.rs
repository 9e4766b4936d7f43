//! A complete segment: a file with many classes, an index and a footer, which never changes.
//!
//! All numbers are little-endian. The footer has a fixed size and is at the end:
//!
//! ```text
//!   header   magic (8) │ build (16)
//!   classes
//!   index    one entry of 32 bytes for each class, sorted by key
//!   footer   offset of the index (8) │ number of entries (8) │ checksum of the index (8) │
//!            length of the file (8) │ checksum of the footer so far (8) │ magic (8)
//! ```

use crate::byte_reader::ByteReader;
use crate::digest::{BuildId, ClassKey, Digest, checksum};
use crate::folder::CacheFolder;
use crate::segment_file::{SegmentFile, unguarded_write};
use crate::stored_file::StoredFile;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Identifies a segment and the version of its form.
pub(crate) const MAGIC: [u8; 8] = *b"VnrCls01";
pub(crate) const HEADER_BYTES: usize = 24;
const ENTRY_BYTES: usize = 32;
const FOOTER_BYTES: usize = 48;

/// The end of the name of a complete segment, and of one that is being written.
pub(crate) const COMPLETE: &str = ".classes";
pub(crate) const PARTIAL: &str = ".part";

/// The positions of the two parts of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub(crate) key: ClassKey,
    /// Offset of the hot section. The original class file is directly behind that section.
    pub(crate) offset: u32,
    pub(crate) hot_len: u32,
    pub(crate) original_len: u32,
    /// A part of the checksum of the hot section. It tells classes of one key apart.
    pub(crate) sum: u32,
}

/// The header of a segment.
pub(crate) fn header(build: BuildId) -> [u8; HEADER_BYTES] {
    let mut out = [0; HEADER_BYTES];
    out[..8].copy_from_slice(&MAGIC);
    out[8..].copy_from_slice(&build.0.to_le_bytes());
    out
}

/// The index and the footer of a segment whose classes end at `offset`.
pub(crate) fn index_and_footer(entries: &mut [IndexEntry], offset: u64) -> Vec<u8> {
    entries.sort_unstable_by_key(|entry| entry.key);
    let mut out = Vec::with_capacity(entries.len() * ENTRY_BYTES + FOOTER_BYTES);
    for entry in entries.iter() {
        out.extend(entry.key.0.to_le_bytes());
        out.extend(entry.offset.to_le_bytes());
        out.extend(entry.hot_len.to_le_bytes());
        out.extend(entry.original_len.to_le_bytes());
        out.extend(entry.sum.to_le_bytes());
    }
    let length = offset + (out.len() + FOOTER_BYTES) as u64;
    let footer = [offset, entries.len() as u64, checksum(&out), length];
    let start = out.len();
    out.extend(footer.iter().flat_map(|number| number.to_le_bytes()));
    let sum = checksum(&out[start..]);
    out.extend(sum.to_le_bytes());
    out.extend(MAGIC);
    out
}

/// A complete segment, open for reading.
pub(crate) struct Segment {
    pub(crate) name: String,
    pub(crate) file: Arc<SegmentFile>,
    index: Vec<IndexEntry>,
    /// Seconds since 1970 of the last change of the file.
    pub(crate) modified: i64,
    /// Whether a class was found in this segment since the file's time was set.
    pub(crate) is_used: AtomicBool,
    /// Whether a class could not be read. Its classes are then stored anew.
    pub(crate) is_damaged: AtomicBool,
}

impl Segment {
    /// Opens a segment. Returns `None` if it is damaged, of another build, or not a file of this
    /// user.
    pub(crate) fn open(
        folder: &CacheFolder,
        name: &str,
        modified: i64,
        build: BuildId,
    ) -> Option<Segment> {
        let file = folder.open_file(name).ok()?;
        let length = file.metadata().ok()?.len();
        let file = SegmentFile::new(file, length, unguarded_write);
        if file.read(0, HEADER_BYTES).ok()? != header(build) {
            return None;
        }
        let footer_at = length.checked_sub(FOOTER_BYTES as u64)?;
        let footer = file.read(footer_at, FOOTER_BYTES).ok()?;
        let mut reader = ByteReader::new(&footer);
        let (index_at, count) = (reader.u64()?, usize::try_from(reader.u64()?).ok()?);
        let (index_sum, told_length) = (reader.u64()?, reader.u64()?);
        if reader.u64()? != checksum(&footer[..32])
            || reader.take(8)? != MAGIC
            || told_length != length
        {
            return None;
        }
        let index_len = count.checked_mul(ENTRY_BYTES)?;
        if index_at.checked_add(index_len as u64)? != footer_at {
            return None;
        }
        let packed = file.read(index_at, index_len).ok()?;
        if index_sum != checksum(&packed) {
            return None;
        }
        let mut reader = ByteReader::new(&packed);
        let mut index = Vec::with_capacity(count);
        for _ in 0..count {
            index.push(IndexEntry {
                key: ClassKey(reader.u128()?),
                offset: reader.u32()?,
                hot_len: reader.u32()?,
                original_len: reader.u32()?,
                sum: reader.u32()?,
            });
        }
        let is_inside = |e: &IndexEntry| {
            u64::from(e.offset) + u64::from(e.hot_len) + u64::from(e.original_len) <= index_at
        };
        if !index.iter().all(is_inside) || !index.is_sorted_by_key(|e| e.key) {
            return None;
        }
        Some(Segment::new(
            name.to_owned(),
            Arc::new(file),
            index,
            modified,
        ))
    }

    /// A segment that this process has written. The index must be sorted.
    pub(crate) fn new(
        name: String,
        file: Arc<SegmentFile>,
        index: Vec<IndexEntry>,
        modified: i64,
    ) -> Segment {
        Segment {
            name,
            file,
            index,
            modified,
            is_used: AtomicBool::new(false),
            is_damaged: AtomicBool::new(false),
        }
    }

    /// The entries of a key: one for each selection of methods under which the class was armed.
    pub(crate) fn entries(&self, key: ClassKey) -> &[IndexEntry] {
        let start = self.index.partition_point(|entry| entry.key < key);
        let count = self.index[start..].partition_point(|entry| entry.key == key);
        &self.index[start..start + count]
    }

    /// The number of classes.
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// The original class file of an entry.
    pub(crate) fn original(&self, entry: &IndexEntry, length: u32, digest: Digest) -> StoredFile {
        let offset = u64::from(entry.offset) + u64::from(entry.hot_len);
        StoredFile::in_file(self.file.clone(), offset, length, digest)
    }
}
