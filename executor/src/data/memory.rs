//! Memory-mapped files whose disk blocks are allocated before use, and tables of words outside the
//! Java heap.
//!
//! A store into a mapped file ends the process with a signal if the disk is full. Therefore the
//! owner of a [`Mapping`] calls [`Mapping::claim`] for a range before any thread accesses it.
//! `claim` asks the file system for the blocks (`posix_fallocate`), so that a full disk is an error
//! here and not a signal later.
//!
//! Application threads access the same memory by address, through `Unsafe` in the runtime classes.
//! Rust accesses it only with atomic loads and stores of whole words, so a concurrent store from
//! Java is never a data race in Rust. Nothing in this file locks; every function can be called on
//! any thread.

use crate::data::append_file::with_file_size_signal_blocked;
#[cfg(miri)]
use in_memory::MappedBytes;
#[cfg(not(miri))]
use memmap2::MmapRaw as MappedBytes;
use rustix::fs::FallocateFlags;
#[cfg(not(miri))]
use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap, mmap_anonymous, mremap_fixed, munmap};
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// The size of a word in bytes.
const WORD_BYTES: usize = 8;

/// A mapped file of fixed size. Its disk blocks are allocated range by range.
pub struct Mapping {
    file: File,
    map: MappedBytes,
}

impl Mapping {
    /// Creates a sparse file of `size` bytes and maps it. Call [`Mapping::claim`] before any thread
    /// accesses a range of it.
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
        let map = MappedBytes::map_raw(&file)?;
        Ok(Mapping { file, map })
    }

    /// Allocates the disk blocks of a range that was not claimed before.
    ///
    /// The range must not be in use: on a file system without this request, the C library writes
    /// zeros into the range.
    pub fn claim(&self, from: u64, len: u64) -> io::Result<()> {
        if cfg!(miri) {
            // `MappedBytes` has no disk blocks, and Miri does not know this system call.
            return Ok(());
        }
        // `rustix` has the system call alone, which fails on such a file system.
        // SAFETY: a plain system call on an open file descriptor; it accesses no memory of ours.
        let code = with_file_size_signal_blocked(|| unsafe {
            libc::posix_fallocate(self.file.as_raw_fd(), from as i64, len as i64)
        });
        match code {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }

    /// Gives back the disk blocks and the memory of a claimed range, which is zero afterwards. It
    /// may be claimed again. No other thread may access the range during the call. A file system
    /// that cannot free a part of a file keeps the blocks.
    ///
    /// # Panics
    /// The range is not inside the file, or not of whole words.
    pub fn release(&self, from: u64, len: u64) {
        if self.punch_hole(from, len) {
            return;
        }
        for offset in (from..from + len).step_by(WORD_BYTES) {
            self.word(offset).store(0, Ordering::Relaxed);
        }
    }

    /// Gives back the disk blocks of a claimed range, although threads may still access it. From
    /// then on, the range is private memory of this process. It is zero except for the words in
    /// `kept`, which keep their values. What threads write meanwhile to other words is lost.
    ///
    /// # Errors
    /// The range is not of whole pages, or the kernel has no memory. The range is unchanged then.
    ///
    /// # Panics
    /// The range is not inside the file, or `kept` is not inside the range or not of whole words.
    #[cfg(not(miri))]
    pub fn abandon(&self, from: u64, len: u64, kept: &[Range<u64>]) -> io::Result<()> {
        let (target, size) = self.checked_range(from, len);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses an address where nothing is mapped.
        let copy = unsafe { mmap_anonymous(std::ptr::null_mut(), size, protection, flags) }?;
        for offset in kept.iter().flat_map(|r| r.clone().step_by(WORD_BYTES)) {
            assert!(
                (from..from + len).contains(&offset),
                "a word to keep at {offset}"
            );
            let value = self.word(offset).load(Ordering::Relaxed);
            // SAFETY: `copy` has `len` bytes, and the word is among them. No other thread has the
            // address.
            unsafe {
                copy.byte_add((offset - from) as usize)
                    .cast::<i64>()
                    .write(value)
            };
        }
        // The kernel replaces the pages in one step: other threads access the old or the new ones.
        // SAFETY: `copy` is a mapping of `size` bytes, which nothing uses any more. The target is
        // inside our mapping, whose words are accessed only by atomics and by Java code.
        let moved = unsafe { mremap_fixed(copy, size, size, MremapFlags::MAYMOVE, target.cast()) };
        if let Err(error) = moved {
            // The kernel may have removed the pages of the file already.
            self.map_file(from, len)?;
            // SAFETY: the mapping is still there, and nothing uses it.
            let _ = unsafe { munmap(copy, size) };
            return Err(error.into());
        }
        // A file system that cannot free a part of a file keeps the blocks.
        self.punch_hole(from, len);
        Ok(())
    }

    /// As [`Mapping::abandon`], in the memory that stands for the file.
    #[cfg(miri)]
    pub fn abandon(&self, from: u64, len: u64, kept: &[Range<u64>]) -> io::Result<()> {
        for offset in (from..from + len).step_by(WORD_BYTES) {
            if !kept.iter().any(|range| range.contains(&offset)) {
                self.word(offset).store(0, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Puts the file back into a range that was abandoned. The range is zero, and may be claimed
    /// again. No other thread may access it during the call.
    ///
    /// # Errors
    /// The kernel cannot map the file. The range stays as it is.
    ///
    /// # Panics
    /// The range is not inside the file.
    pub fn restore(&self, from: u64, len: u64) -> io::Result<()> {
        #[cfg(not(miri))]
        self.map_file(from, len)?;
        self.release(from, len);
        Ok(())
    }

    /// Maps a range of the file where this mapping has it.
    #[cfg(not(miri))]
    fn map_file(&self, from: u64, len: u64) -> io::Result<()> {
        let (target, size) = self.checked_range(from, len);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the target is inside our mapping, whose words are accessed only by atomics and by
        // Java code. They stay accessible.
        unsafe { mmap(target.cast(), size, protection, flags, &self.file, from) }?;
        Ok(())
    }

    /// Frees the disk blocks of a range, whose bytes are zero then. Returns whether the file system
    /// can do that.
    fn punch_hole(&self, from: u64, len: u64) -> bool {
        let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        !cfg!(miri) && rustix::fs::fallocate(&self.file, mode, from, len).is_ok()
    }

    /// Returns the number of bytes of the file.
    pub fn len(&self) -> u64 {
        self.map.len() as u64
    }

    /// Returns the address of the first byte.
    pub fn address(&self) -> i64 {
        self.map.as_mut_ptr() as i64
    }

    /// Returns the claimed word at this offset.
    ///
    /// # Panics
    /// The offset is not a multiple of 8, or the word is not inside the file.
    pub fn word(&self, offset: u64) -> &AtomicI64 {
        let address = self.checked_address(offset, WORD_BYTES as u64);
        // SAFETY: `checked_address` has shown that the 8 bytes are inside the mapping and aligned.
        // The mapping lives as long as `self`, and Rust accesses it only through atomics.
        unsafe { &*(address as *const AtomicI64) }
    }

    /// Returns the claimed half word (32 bits) at this offset.
    ///
    /// # Panics
    /// The offset is not a multiple of 4, or the half word is not inside the file.
    pub fn half_word(&self, offset: u64) -> &AtomicU32 {
        let address = self.checked_address(offset, 4);
        // SAFETY: `checked_address` has shown that the 4 bytes are inside the mapping and aligned.
        // The mapping lives as long as `self`, and Rust accesses it only through atomics.
        unsafe { &*(address as *const AtomicU32) }
    }

    /// Copies claimed bytes, from an offset that is a multiple of 8. Returns fewer bytes if the
    /// file ends before.
    ///
    /// Each word is loaded atomically, so a concurrent writer can only cause a mixture of old and
    /// new words. Ring buffers exclude that too: their writer publishes the bytes with a release
    /// store to the head before the reader copies them.
    ///
    /// # Panics
    /// The offset is not a multiple of 8.
    pub fn copy(&self, offset: u64, len: usize) -> Vec<u8> {
        let whole_words = self.map.len() - self.map.len() % WORD_BYTES;
        let len = len.min((whole_words as u64).saturating_sub(offset) as usize);
        let mut out = Vec::with_capacity(len.next_multiple_of(WORD_BYTES));
        for at in (offset..)
            .step_by(WORD_BYTES)
            .take(len.div_ceil(WORD_BYTES))
        {
            let word = self.word(at).load(Ordering::Relaxed);
            out.extend_from_slice(&word.to_ne_bytes());
        }
        out.truncate(len);
        out
    }

    /// The address and the size of a range.
    #[cfg(not(miri))]
    fn checked_range(&self, from: u64, len: u64) -> (*mut u8, usize) {
        let end = from.checked_add(len);
        let is_inside = end.is_some_and(|end| end <= self.len());
        assert!(is_inside, "a range of {len} bytes at {from}");
        // SAFETY: `from` plus `len` is at most the length of the mapping.
        let first = unsafe { self.map.as_mut_ptr().add(from as usize) };
        (first, len as usize)
    }

    /// The address of `size` bytes at an offset that is a multiple of `size`.
    fn checked_address(&self, offset: u64, size: u64) -> *mut u8 {
        let end = offset.checked_add(size);
        let is_inside = end.is_some_and(|end| end <= self.map.len() as u64);
        assert!(
            is_inside && offset.is_multiple_of(size),
            "offset {offset} of a mapped file of {} bytes",
            self.map.len()
        );
        // SAFETY: `offset` plus `size` is at most the length of the mapping.
        unsafe { self.map.as_mut_ptr().add(offset as usize) }
    }
}

/// The bytes of a [`Mapping`] under Miri. Miri maps no shared files, so the bytes are an allocation
/// of the file's size, and the file on disk stays empty.
#[cfg(miri)]
mod in_memory {
    use super::{File, Layout, alloc_zeroed, handle_alloc_error, io};
    use std::alloc::dealloc;

    /// The alignment of mapped files.
    const PAGE_BYTES: usize = 4096;

    pub struct MappedBytes {
        first: *mut u8,
        layout: Layout,
    }

    // SAFETY: the methods return an address and a length. The owner accesses the bytes only through
    // atomics.
    unsafe impl Send for MappedBytes {}
    // SAFETY: as for `Send`.
    unsafe impl Sync for MappedBytes {}

    impl MappedBytes {
        pub fn map_raw(file: &File) -> io::Result<MappedBytes> {
            let len = file.metadata()?.len() as usize;
            let layout = Layout::from_size_align(len, PAGE_BYTES).map_err(io::Error::other)?;
            assert_ne!(len, 0, "an empty file cannot be mapped");
            // SAFETY: the layout is not empty.
            let first = unsafe { alloc_zeroed(layout) };
            if first.is_null() {
                handle_alloc_error(layout);
            }
            Ok(MappedBytes { first, layout })
        }

        pub fn as_mut_ptr(&self) -> *mut u8 {
            self.first
        }

        pub fn len(&self) -> usize {
            self.layout.size()
        }
    }

    impl Drop for MappedBytes {
        fn drop(&mut self) {
            // SAFETY: `map_raw` has allocated the bytes with this layout.
            unsafe { dealloc(self.first, self.layout) }
        }
    }
}

/// A table of words outside the Java heap that Java code reads by address. The table is never
/// freed, because compiled Java code may keep its address.
pub struct WordTable {
    words: &'static [AtomicI64],
}

impl WordTable {
    /// Creates a table of `len` zeros. The kernel allocates a page of the table at the first store
    /// into the page, because nothing writes the zeros.
    ///
    /// # Panics
    /// `len` is 0.
    pub fn new(len: usize) -> WordTable {
        assert_ne!(len, 0, "a table of words is not empty");
        let layout = Layout::array::<AtomicI64>(len).expect("the size fits in the address space");
        // SAFETY: the layout is not empty.
        let first = unsafe { alloc_zeroed(layout) }.cast::<AtomicI64>();
        if first.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: the allocation has room for `len` words, is aligned for them and is never freed.
        // Zero bytes are a valid word. Rust accesses the words only through this shared slice.
        let words = unsafe { std::slice::from_raw_parts(first, len) };
        WordTable { words }
    }

    /// Returns the address of the first word.
    pub fn address(&self) -> i64 {
        self.words.as_ptr() as i64
    }

    /// Returns a word, or zero if the index is beyond the end.
    pub fn get(&self, index: usize) -> i64 {
        self.words
            .get(index)
            .map_or(0, |w| w.load(Ordering::Acquire))
    }

    /// Sets a word. An index beyond the end has no effect.
    pub fn set(&self, index: usize, value: i64) {
        if let Some(word) = self.words.get(index) {
            word.store(value, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn mapping(size: u64) -> (ScratchDirectory, Mapping) {
        let directory = ScratchDirectory::new();
        let mapping = Mapping::create(&directory.join("file"), size).expect("a mapping");
        mapping.claim(0, size).expect("blocks");
        (directory, mapping)
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no shared files")]
    fn stores_are_in_the_file() {
        let (directory, mapping) = mapping(4096);
        mapping.word(8).store(0x0102_0304, Ordering::Relaxed);
        mapping.half_word(4092).store(7, Ordering::Relaxed);
        let bytes = std::fs::read(directory.join("file")).expect("the file");
        assert_eq!(bytes.len(), 4096);
        assert_eq!(bytes[8..16], 0x0102_0304_i64.to_ne_bytes());
        assert_eq!(bytes[4092..], 7_u32.to_ne_bytes());
    }

    #[test]
    fn an_access_outside_the_file_or_unaligned_panics_in_every_build() {
        let (_directory, mapping) = mapping(4096);
        for offset in [4, 4089, 4096, 4100, u64::MAX, u64::MAX - 7] {
            let access = AssertUnwindSafe(|| mapping.word(offset).load(Ordering::Relaxed));
            assert!(catch_unwind(access).is_err(), "word at {offset}");
        }
        for offset in [2, 4094, 4096, u64::MAX - 3] {
            let access = AssertUnwindSafe(|| mapping.half_word(offset).load(Ordering::Relaxed));
            assert!(catch_unwind(access).is_err(), "half word at {offset}");
        }
        assert_eq!(mapping.word(4088).load(Ordering::Relaxed), 0);
        assert_eq!(mapping.half_word(4092).load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_abandoned_range_keeps_chosen_words_and_the_file_does_not_see_its_stores() {
        let (directory, mapping) = mapping(4 * 4096);
        for offset in (0..4 * 4096).step_by(8) {
            mapping
                .word(offset)
                .store(offset as i64 + 1, Ordering::Relaxed);
        }
        let at = |offset| mapping.word(offset).load(Ordering::Relaxed);
        let kept = [4096..4104, 8192..8208];
        mapping.abandon(4096, 8192, &kept).expect("private memory");
        let words: Vec<i64> = (4096..3 * 4096)
            .step_by(8)
            .map(at)
            .filter(|w| *w != 0)
            .collect();
        assert_eq!(words, [4097, 8193, 8201]);
        assert_eq!(
            [at(4088), at(3 * 4096)],
            [4089, 3 * 4096 + 1],
            "the neighbours"
        );
        mapping.word(4104).store(-7, Ordering::Relaxed);
        assert_eq!(at(4104), -7, "a late store");
        if !cfg!(miri) {
            let bytes = std::fs::read(directory.join("file")).expect("the file");
            assert!(bytes[4096..3 * 4096].iter().all(|byte| *byte == 0));
        }
        mapping.restore(4096, 8192).expect("the file");
        assert!((4096..3 * 4096).step_by(8).all(|offset| at(offset) == 0));
        mapping.claim(4096, 8192).expect("blocks");
        mapping.word(4096).store(5, Ordering::Relaxed);
        if !cfg!(miri) {
            let bytes = std::fs::read(directory.join("file")).expect("the file");
            assert_eq!(bytes[4096..4104], 5_i64.to_ne_bytes());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no shared files")]
    fn a_range_that_is_not_of_whole_pages_cannot_be_abandoned() {
        let (_directory, mapping) = mapping(2 * 4096);
        mapping.word(8).store(3, Ordering::Relaxed);
        assert!(mapping.abandon(8, 4096, &[]).is_err());
        assert_eq!(mapping.word(8).load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_copy_ends_with_the_file_and_may_end_within_a_word() {
        let (_directory, mapping) = mapping(4096);
        for n in 0..512 {
            let bytes: [u8; 8] = std::array::from_fn(|k| (8 * n + k) as u8);
            let word = mapping.word(8 * n as u64);
            word.store(i64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
        assert_eq!(mapping.copy(8, 11), (8..19).collect::<Vec<u8>>());
        assert_eq!(mapping.copy(4080, 100).len(), 16);
        assert_eq!(mapping.copy(4096, 100).len(), 0);
        assert_eq!(mapping.copy(8192, 100).len(), 0);
        assert_eq!(mapping.copy(16, 0).len(), 0);
    }

    #[test]
    fn a_table_of_words_ignores_what_is_beyond_its_end() {
        let table = WordTable::new(3);
        table.set(2, -5);
        table.set(3, 9);
        assert_eq!([0, 2, 3].map(|n| table.get(n)), [0, -5, 0]);
    }
}
