//! The bytes of an events file, read at any offset.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// A file, or bytes in memory. The file is read and not mapped, because a process that truncates a
/// mapped file ends its readers with a signal.
pub trait ByteSource: Send + Sync {
    /// The length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Fills the buffer from this offset, and returns the number of bytes that exist.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// The first offset from this one on that is not in a hole of a sparse file; `None` if only a
    /// hole follows.
    fn next_data(&self, offset: u64) -> Option<u64>;
}

impl ByteSource for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match FileExt::read_at(self, &mut buffer[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn next_data(&self, offset: u64) -> Option<u64> {
        let from = libc::off_t::try_from(offset).ok()?;
        // SAFETY: a plain system call on an open file descriptor. Reads name their own offsets, so
        // the changed position of the file has no effect.
        let data = unsafe { libc::lseek(self.as_raw_fd(), from, libc::SEEK_DATA) };
        match u64::try_from(data) {
            Ok(data) => Some(data),
            // The file system does not know holes, or the offset is at the end.
            Err(_) if io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO) => None,
            Err(_) => Some(offset),
        }
    }
}

impl ByteSource for Vec<u8> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = self.get(offset..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn next_data(&self, offset: u64) -> Option<u64> {
        (offset < self.len() as u64).then_some(offset)
    }
}
