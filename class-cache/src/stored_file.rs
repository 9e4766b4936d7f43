//! An original class file that is not on the heap, and how to read it.

use crate::digest::Digest;
use crate::segment_file::SegmentFile;
use std::sync::Arc;
use thiserror::Error;

/// The copy of a class file cannot be read any more, because the file has been damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("its copy in the class cache has been damaged since the class was loaded")]
pub struct LostClassFile;

#[derive(Clone)]
enum Place {
    File(Arc<SegmentFile>, u64),
    Heap(Arc<[u8]>),
}

/// An original class file.
#[derive(Clone)]
pub struct StoredFile {
    place: Place,
    length: u32,
    digest: Digest,
}

impl Default for StoredFile {
    /// The class file of no class: it has no bytes.
    fn default() -> StoredFile {
        StoredFile::on_heap(&[])
    }
}

impl StoredFile {
    /// A class file in a file.
    pub fn in_file(file: Arc<SegmentFile>, offset: u64, length: u32, digest: Digest) -> StoredFile {
        StoredFile {
            place: Place::File(file, offset),
            length,
            digest,
        }
    }

    /// A class file on the heap, for a process that can write no file.
    pub fn on_heap(bytes: &[u8]) -> StoredFile {
        StoredFile {
            place: Place::Heap(bytes.into()),
            length: bytes.len() as u32,
            digest: Digest::new(bytes),
        }
    }

    /// Whether this is the class file of no class.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The number of bytes that the class file occupies on the heap.
    pub fn heap_bytes(&self) -> usize {
        match &self.place {
            Place::File(..) => 0,
            Place::Heap(bytes) => bytes.len(),
        }
    }

    /// Whether both are copies of the same class file.
    pub fn is_same(&self, other: &StoredFile) -> bool {
        (self.length, self.digest) == (other.length, other.digest)
    }

    /// Whether this is a copy of these bytes.
    pub fn is_copy_of(&self, bytes: &[u8]) -> bool {
        self.length as usize == bytes.len() && self.digest == Digest::new(bytes)
    }

    /// Reads the class file.
    ///
    /// # Errors
    /// The file that contains it has been damaged or truncated.
    pub fn read(&self) -> Result<Arc<[u8]>, LostClassFile> {
        let (file, offset) = match &self.place {
            Place::Heap(bytes) => return Ok(bytes.clone()),
            Place::File(file, offset) => (file, *offset),
        };
        let bytes = file
            .read(offset, self.length as usize)
            .map_err(|_| LostClassFile)?;
        if Digest::new(&bytes) != self.digest {
            return Err(LostClassFile);
        }
        Ok(bytes.into())
    }
}
