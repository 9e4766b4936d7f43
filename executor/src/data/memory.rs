//! Files mapped into memory, with their blocks allocated before they are touched.
//!
//! A store into a mapped file whose disk is full kills the process. So a mapping is only handed out after the file system
//! has promised the blocks (`posix_fallocate`), and a refusal of that is an error here, not a signal there.

use crate::data::append_file::with_file_size_signal_blocked;
use memmap2::MmapRaw;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// A mapped file of fixed size whose blocks come as they are asked for.
pub struct Mapping {
    file: File,
    map: MmapRaw,
}

impl Mapping {
    /// Makes a sparse file of `size` bytes and maps it. Nothing of it may be touched before [`Mapping::claim`].
    pub fn create(path: &Path, size: u64) -> io::Result<Mapping> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)?;
        with_file_size_signal_blocked(|| file.set_len(size))?;
        let map = MmapRaw::map_raw(&file)?;
        Ok(Mapping { file, map })
    }

    /// Makes sure of the blocks of a range that was not claimed before.
    pub fn claim(&self, from: u64, len: u64) -> io::Result<()> {
        // Safety: a plain system call on an open file. (Where the file system knows no such request, the C library writes
        // zeros; so the range must not be in use.)
        let code = with_file_size_signal_blocked(|| unsafe {
            libc::posix_fallocate(self.file.as_raw_fd(), from as i64, len as i64)
        });
        match code {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }

    /// The address of the first byte.
    pub fn address(&self) -> i64 {
        self.map.as_mut_ptr() as i64
    }

    /// A claimed word.
    pub fn word(&self, offset: u64) -> &AtomicI64 {
        debug_assert!(offset.is_multiple_of(8) && offset + 8 <= self.map.len() as u64);
        // Safety: inside the mapping, aligned (the mapping is page-aligned), and only ever accessed as words by Rust.
        unsafe { &*(self.map.as_mut_ptr().add(offset as usize) as *const AtomicI64) }
    }

    /// A claimed half word.
    pub fn half(&self, offset: u64) -> &AtomicU32 {
        debug_assert!(offset.is_multiple_of(4) && offset + 4 <= self.map.len() as u64);
        // Safety: as for `word`.
        unsafe { &*(self.map.as_mut_ptr().add(offset as usize) as *const AtomicU32) }
    }

    /// Copies claimed bytes out.
    pub fn copy(&self, offset: u64, len: usize) -> Vec<u8> {
        let len = len.min((self.map.len() as u64).saturating_sub(offset) as usize);
        let mut out = vec![0; len];
        // Safety: inside the mapping. Writers have released these bytes before the reader was told of them.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.map.as_ptr().add(offset as usize),
                out.as_mut_ptr(),
                len,
            )
        };
        out
    }
}

/// A table of words outside the Java heap that Java code reads by address; never freed.
pub struct Table {
    words: &'static [AtomicI64],
}

impl Table {
    /// A table of `len` zeros.
    pub fn new(len: usize) -> Table {
        Table {
            words: (0..len)
                .map(|_| AtomicI64::new(0))
                .collect::<Vec<_>>()
                .leak(),
        }
    }

    /// Its address.
    pub fn address(&self) -> i64 {
        self.words.as_ptr() as i64
    }

    /// One word; zero beyond the end.
    pub fn get(&self, i: usize) -> i64 {
        self.words.get(i).map_or(0, |w| w.load(Ordering::Acquire))
    }

    /// Sets one word.
    pub fn set(&self, i: usize, value: i64) {
        if let Some(w) = self.words.get(i) {
            w.store(value, Ordering::Release);
        }
    }
}
