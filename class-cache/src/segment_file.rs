//! A file to which one process appends, and from which it reads back what it has appended.
//!
//! The newest bytes are in memory until there are enough for one large write. If the write fails,
//! for example because the disk is full, they stay in memory and the file takes no more.

use parking_lot::Mutex;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The number of bytes that are written together.
const WRITE_BYTES: usize = 256 << 10;

/// Runs a write. An agent within another program must prevent signals that a failed write raises.
pub type GuardedWrite = fn(&mut dyn FnMut() -> io::Result<()>) -> io::Result<()>;

/// Runs a write without any precaution.
pub fn unguarded_write(write: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
    write()
}

/// The bytes that are not in the file yet.
struct Tail {
    /// The number of bytes in the file.
    start: u64,
    bytes: Vec<u8>,
    /// Whether a write has failed.
    is_broken: bool,
}

/// See the module documentation.
pub struct SegmentFile {
    file: File,
    write: GuardedWrite,
    tail: Mutex<Tail>,
}

impl SegmentFile {
    /// A file of `length` bytes. Bytes are appended behind them.
    pub fn new(file: File, length: u64, write: GuardedWrite) -> SegmentFile {
        SegmentFile {
            file,
            write,
            tail: Mutex::new(Tail {
                start: length,
                bytes: Vec::new(),
                is_broken: false,
            }),
        }
    }

    /// Appends bytes, and returns their offset. Returns `None` if an earlier write has failed. If
    /// the write fails now, the bytes can still be read.
    pub fn append(&self, parts: &[&[u8]]) -> Option<u64> {
        let mut tail = self.tail.lock();
        if tail.is_broken {
            return None;
        }
        let offset = tail.start + tail.bytes.len() as u64;
        for part in parts {
            tail.bytes.extend_from_slice(part);
        }
        if tail.bytes.len() >= WRITE_BYTES {
            // The error is kept in the tail, and the next `append` or `flush` returns it.
            let _ = self.write_tail(&mut tail);
        }
        Some(offset)
    }

    /// Writes the bytes that are still in memory.
    ///
    /// # Errors
    /// This write or an earlier one has failed.
    pub fn flush(&self) -> io::Result<()> {
        self.write_tail(&mut self.tail.lock())
    }

    fn write_tail(&self, tail: &mut Tail) -> io::Result<()> {
        if tail.is_broken {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = (self.write)(&mut || self.file.write_all_at(&tail.bytes, tail.start));
        match written {
            Ok(()) => {
                tail.start += tail.bytes.len() as u64;
                tail.bytes = Vec::new();
            }
            Err(_) => {
                tail.is_broken = true;
                tail.bytes.shrink_to_fit();
            }
        }
        written
    }

    /// Reads bytes, from memory or from the file.
    ///
    /// # Errors
    /// The file is too short or cannot be read.
    pub fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        {
            let tail = self.tail.lock();
            if let Some(start) = offset.checked_sub(tail.start) {
                let start = usize::try_from(start).map_err(io::Error::other)?;
                let bytes = start
                    .checked_add(length)
                    .and_then(|end| tail.bytes.get(start..end));
                let missing = io::Error::from(io::ErrorKind::UnexpectedEof);
                return bytes.map(<[u8]>::to_vec).ok_or(missing);
            }
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Whether a write has failed.
    pub(crate) fn is_broken(&self) -> bool {
        self.tail.lock().is_broken
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}
