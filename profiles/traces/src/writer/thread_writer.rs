//! Writes the events of one thread into mapped segments of its events file.
//!
//! ```text
//!   segment 1 ............ | segment 2 ...... next ▷ 0 0 0 0 |        the rest is not yet reserved
//! ```
//!
//! The fast path is one comparison and one store of 8 bytes. It allocates nothing, takes no lock
//! and calls no other function. A word that was stored is part of the file, even if the process is
//! killed in the next moment, because the segment is a shared mapping.
//!
//! The slow path reserves the blocks of the next segment and writes zeros to them before it maps
//! them, so a full disk is an error of a system call and not a signal at a store. If the reservation fails, the writer
//! counts the events that it drops, and tries again after 2, 4, 8 … of them. The first event after
//! that is [`kind::LOST`].

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use memmap2::{MmapMut, MmapOptions};

use super::event_arguments::ArgumentValue;
use crate::error::TraceError;
use crate::format::segment::{HEADER_BYTES, SEGMENT_BYTES, SegmentHeader, is_segment_size};
use crate::format::word::{
    FIRST_INSTANT, FIRST_LONG, FIRST_LONG_INSTANT, MAX_SHORT_ID, MAX_VALUE, WORD_BYTES, kind, long,
    short,
};
use crate::format::{VERSION, events_file};

/// The most words of the event [`kind::LOST`].
const LOST_WORDS: usize = 8;

/// A ring of segments: the writer overwrites the oldest segment if it is old enough, or if there are
/// as many as the ring may have. The segments are not in the order of their places in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRing {
    /// The most segments; at least 2.
    pub segments: u32,
    /// A segment is old enough if its last event was more than this number of ticks ago.
    pub keep: u64,
}

/// A segment of a ring. The writer keeps them in the order of their sequence numbers.
#[derive(Clone, Copy, Debug)]
struct KeptSegment {
    /// The place in the file, in segments.
    place: u64,
    /// The time of the last event in ticks; unknown for the mapped segment.
    last: u64,
}

/// How an events file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// Size of a segment in bytes. A size that the format does not allow becomes
    /// [`SEGMENT_BYTES`].
    pub segment_bytes: u32,
    /// A ring, or `None` to keep everything.
    pub ring: Option<SegmentRing>,
}

impl Default for WriterOptions {
    fn default() -> WriterOptions {
        WriterOptions {
            segment_bytes: SEGMENT_BYTES,
            ring: None,
        }
    }
}

/// The part of a writer that each event changes.
///
/// A recorder whose fast path is not Rust code keeps a copy of it: it stores event words at `at`
/// itself as long as `at` is not `end`, and calls [`ThreadWriter::set_position`] before it calls
/// the writer again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterPosition {
    /// The address of the next word of the segment.
    pub at: usize,
    /// The address behind the segment. Equal to `at` if there is no room for another word.
    pub end: usize,
    /// The time of the latest event in ticks.
    pub last: u64,
    /// The number of open nodes.
    pub depth: u32,
}

/// Writes the events of one thread.
#[derive(Debug)]
pub struct ThreadWriter {
    /// The events file. It is open only while a segment is mapped, so that a process with many
    /// threads keeps its file descriptors.
    path: PathBuf,
    is_closed: bool,
    map: Option<MmapMut>,
    /// Offset of the next word in the segment.
    at: usize,
    /// Size of the mapped segment; 0 if there is none.
    end: usize,
    /// The time of the latest event in ticks.
    last: u64,
    depth: u32,
    lost: LostEvents,
    thread: u32,
    /// The sequence number of the mapped segment.
    sequence: u64,
    /// The segments of a ring, the oldest first. Their places are the numbers below their count.
    kept: VecDeque<KeptSegment>,
    options: WriterOptions,
}

/// Events that found no room.
#[derive(Debug, Default)]
struct LostEvents {
    count: u64,
    lowest_depth: u32,
    /// The count at which the writer tries again.
    retry_at: u64,
    total: u64,
}

impl ThreadWriter {
    /// Creates the events file of a thread, or empties an existing one. The first segment is mapped
    /// at the first event.
    pub fn create(
        directory: &Path,
        thread: u32,
        mut options: WriterOptions,
    ) -> Result<ThreadWriter, TraceError> {
        if !is_segment_size(options.segment_bytes) {
            options.segment_bytes = SEGMENT_BYTES;
        }
        let path = directory.join(events_file(thread));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(|e| TraceError::io(&path, e))?;
        drop(file);
        Ok(ThreadWriter {
            path,
            is_closed: false,
            map: None,
            at: 0,
            end: 0,
            last: 0,
            depth: 0,
            lost: LostEvents::default(),
            thread,
            sequence: 0,
            kept: VecDeque::new(),
            options,
        })
    }

    /// A method, loop or fragment is entered. `now` is in ticks. A time before the latest event is
    /// replaced by the time of that event.
    #[inline]
    pub fn entry(&mut self, now: u64, frame: u64) {
        self.event(kind::ENTRY, now, frame);
    }

    /// The innermost node ends.
    #[inline]
    pub fn exit(&mut self, now: u64) {
        self.event(kind::EXIT, now, 0);
    }

    /// The innermost node ends with an exception.
    #[inline]
    pub fn throw(&mut self, now: u64) {
        self.event(kind::THROW, now, 0);
    }

    /// Writes an event without arguments. The id of a kind without an id is ignored.
    #[inline]
    pub fn event(&mut self, kind: u8, now: u64, id: u64) {
        let delta = now.saturating_sub(self.last);
        let is_short = kind < FIRST_LONG;
        let limit = if is_short {
            u64::from(u32::MAX)
        } else {
            MAX_VALUE
        };
        if delta <= limit && id <= MAX_SHORT_ID && self.at + WORD_BYTES <= self.end {
            let word = if is_short {
                short(kind, id, delta)
            } else {
                long(kind, delta)
            };
            self.store(word);
            self.last += delta;
            self.count_depth(kind);
        } else {
            self.event_with(kind, now, id, &[]);
        }
    }

    /// Writes an event with arguments. An event is never split between two segments; arguments
    /// that do not fit into an empty segment are dropped.
    pub fn event_with(&mut self, kind: u8, now: u64, id: u64, arguments: &[ArgumentValue<'_>]) {
        let room = (self.options.segment_bytes as usize - HEADER_BYTES) / WORD_BYTES - LOST_WORDS;
        // Words for the time, the event and its id.
        let mut words = 3;
        let fitting = arguments.iter().take_while(|argument| {
            words += argument.words();
            words <= room
        });
        let fitting = fitting.count();
        let arguments = arguments.get(..fitting).unwrap_or_default();
        let words = 3 + arguments.iter().map(ArgumentValue::words).sum::<usize>();
        if !self.reserve(words, now) {
            self.count_depth(kind);
            self.lost.count += 1;
            self.lost.total += 1;
            self.lost.lowest_depth = self.lost.lowest_depth.min(self.depth);
            return;
        }
        let mut delta = now.saturating_sub(self.last);
        let limit = match kind < FIRST_LONG {
            true => u64::from(u32::MAX),
            false => MAX_VALUE,
        };
        if delta > limit {
            self.store(long(kind::TIME, delta.min(MAX_VALUE)));
            self.last += delta.min(MAX_VALUE);
            delta = 0;
        }
        match kind < FIRST_LONG {
            true => self.store(short(kind, id, delta)),
            false => self.store(long(kind, delta)),
        }
        self.last += delta;
        if kind < FIRST_LONG && id > MAX_SHORT_ID {
            ArgumentValue::Id(id).write(|word| self.store(word));
        }
        for argument in arguments {
            argument.write(|word| self.store(word));
        }
        self.count_depth(kind);
    }

    /// The position behind the latest event.
    pub fn position(&self) -> WriterPosition {
        let base = self.map.as_ref().map_or(0, |map| map.as_ptr().addr());
        WriterPosition {
            at: base + self.at,
            end: base + self.end,
            last: self.last,
            depth: self.depth,
        }
    }

    /// Continues behind events that were stored without the writer since [`Self::position`] was
    /// called. A position that is not in the mapped segment changes nothing.
    pub fn set_position(&mut self, position: WriterPosition) {
        let base = self.map.as_ref().map_or(0, |map| map.as_ptr().addr());
        let Some(at) = position.at.checked_sub(base) else {
            return;
        };
        if at < self.at || at > self.end || !at.is_multiple_of(WORD_BYTES) {
            return;
        }
        self.at = at;
        self.last = position.last;
        self.depth = position.depth;
    }

    /// Ends the file behind the latest event. Later events are dropped.
    ///
    /// The memory of the segment stays accessible until the writer is dropped, but it is no longer
    /// part of the file. So another thread that is just storing a word there, without this writer,
    /// neither fails nor changes the file.
    ///
    /// # Errors
    /// The operating system refuses to replace the memory or to shorten the file. The file then has
    /// zeros behind its last event.
    pub fn close(&mut self) -> std::io::Result<()> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Ok(());
        }
        let Some(map) = &self.map else {
            return Ok(());
        };
        let length = self.segment_offset() + self.at as u64;
        detach_memory(map)?;
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&self.path)?;
        let place = |segment: &KeptSegment| segment.place;
        match self.kept.iter().map(place).max() > self.kept.back().map(place) {
            // Another segment of a ring is behind this one.
            true => Ok(()),
            false => file.set_len(length),
        }
    }

    /// The number of the thread in the trace.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// The number of open nodes.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The number of events that found no room since the file was created.
    pub fn lost(&self) -> u64 {
        self.lost.total
    }

    #[inline]
    fn store(&mut self, word: u64) {
        // The slow path has made room; without a segment the loop body is not reached.
        if let Some(map) = &mut self.map
            && let Some(bytes) = map.get_mut(self.at..self.at + WORD_BYTES)
        {
            bytes.copy_from_slice(&word.to_le_bytes());
            self.at += WORD_BYTES;
        }
    }

    #[inline]
    fn count_depth(&mut self, kind: u8) {
        if kind < FIRST_INSTANT {
            self.depth += 1;
        } else if kind > FIRST_LONG && kind < FIRST_LONG_INSTANT {
            self.depth = self.depth.saturating_sub(1);
        }
    }

    /// Makes room for this number of words. Returns false if there is none.
    fn reserve(&mut self, words: usize, now: u64) -> bool {
        let lost_words = if self.lost.count > 0 { LOST_WORDS } else { 0 };
        if self.at + (words + lost_words) * WORD_BYTES > self.end {
            if self.lost.count > 0 && self.lost.count < self.lost.retry_at {
                return false;
            }
            if self.next_segment(now).is_err() {
                if self.lost.count == 0 {
                    self.lost.lowest_depth = self.depth;
                    self.lost.retry_at = 2;
                } else {
                    self.lost.retry_at = self.lost.count.saturating_mul(2);
                }
                self.map = None;
                (self.at, self.end) = (0, 0);
                return false;
            }
        }
        if self.lost.count > 0 {
            let (lowest, depth) = (self.lost.lowest_depth, self.depth);
            let count = i64::try_from(self.lost.count).unwrap_or(i64::MAX);
            self.lost.count = 0;
            let arguments = [
                ArgumentValue::Int(count),
                ArgumentValue::Int(lowest.into()),
                ArgumentValue::Int(depth.into()),
            ];
            self.store(short(kind::LOST, 0, 0));
            for argument in arguments {
                argument.write(|word| self.store(word));
            }
        }
        true
    }

    /// The place in the file, in segments, of the next segment.
    fn next_place(&self, now: u64) -> u64 {
        let Some(ring) = self.options.ring else {
            return self.sequence;
        };
        let count = self.kept.len() as u64;
        match self.kept.front() {
            Some(oldest) if count >= 2 => {
                let is_old = now.saturating_sub(oldest.last) > ring.keep;
                let is_full = count >= u64::from(ring.segments);
                if is_old || is_full {
                    oldest.place
                } else {
                    count
                }
            }
            _ => count,
        }
    }

    /// The offset in the file of the mapped segment.
    fn segment_offset(&self) -> u64 {
        let in_order = self.sequence.saturating_sub(1);
        let place = self.kept.back().map_or(in_order, |segment| segment.place);
        place * u64::from(self.options.segment_bytes)
    }

    /// The place of the next segment, whose blocks are reserved. A ring that cannot grow overwrites its
    /// oldest segment.
    fn reserve_place(&self, file: &File, now: u64) -> std::io::Result<u64> {
        let size = u64::from(self.options.segment_bytes);
        let place = self.next_place(now);
        match (reserve_blocks(file, place * size, size), self.kept.front()) {
            (Ok(()), _) => Ok(place),
            (Err(_), Some(oldest)) if self.kept.len() >= 2 => Ok(oldest.place),
            (Err(error), _) => Err(error),
        }
    }

    /// Reserves, clears and maps the next segment. The header is written last, so that a reader
    /// never sees the words of an older segment under the header of the new one.
    fn next_segment(&mut self, now: u64) -> std::io::Result<()> {
        if self.is_closed {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        if let Some(current) = self.kept.back_mut() {
            current.last = self.last;
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&self.path)?;
        let place = self.reserve_place(&file, now)?;
        let offset = place * u64::from(self.options.segment_bytes);
        clear(&file, offset, self.options.segment_bytes as usize)?;
        // SAFETY: the file was created by this writer and is private to it (mode 0600). No Rust
        // reference into the mapping exists besides the one in `self.map`.
        let mut map = unsafe {
            MmapOptions::new()
                .offset(offset)
                .len(self.options.segment_bytes as usize)
                .map_mut(&file)?
        };
        if self.options.ring.is_some() {
            if self
                .kept
                .front()
                .is_some_and(|oldest| oldest.place == place)
            {
                self.kept.pop_front();
            }
            self.kept.push_back(KeptSegment { place, last: 0 });
        }
        // After lost events the time of the segment is that of the next event.
        if self.sequence == 0 || self.lost.count > 0 {
            self.last = self.last.max(now);
        }
        self.sequence += 1;
        let header = SegmentHeader {
            version: VERSION,
            segment_bytes: self.options.segment_bytes,
            thread: self.thread.into(),
            sequence: self.sequence,
            start: self.last,
            depth: self.depth,
        };
        if let Some(bytes) = map.get_mut(..HEADER_BYTES) {
            bytes.copy_from_slice(&header.to_bytes());
        }
        self.at = HEADER_BYTES;
        self.end = map.len();
        self.map = Some(map);
        Ok(())
    }
}

/// Replaces the memory of a segment by private memory at the same address.
fn detach_memory(map: &MmapMut) -> std::io::Result<()> {
    // SAFETY: the range is a mapping of its own, which `map` owns and unmaps later. No reference
    // into it exists: `ThreadWriter` borrows the bytes only while it stores a word.
    let memory = unsafe {
        libc::mmap(
            map.as_ptr().cast_mut().cast(),
            map.len(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    match memory {
        libc::MAP_FAILED => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Reserves the blocks of a part of a file. The file grows if necessary.
fn reserve_blocks(file: &File, offset: u64, size: u64) -> std::io::Result<()> {
    let too_large = |_| std::io::Error::from(std::io::ErrorKind::FileTooLarge);
    let offset = libc::off_t::try_from(offset).map_err(too_large)?;
    let size = libc::off_t::try_from(size).map_err(too_large)?;
    // SAFETY: a plain system call on an open file descriptor.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), offset, size) } {
        0 => Ok(()),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

/// Zeros for a system call of [`clear`]. Smaller pieces take longer.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Writes zeros to a part of a file, which brings the part into memory. This takes 1 µs for a page of
/// 4 KiB on ext4 (Linux 6.18); a store to a page that was only reserved takes 4 µs, because the kernel
/// reads the page before it prepares the store.
fn clear(file: &File, offset: u64, size: usize) -> std::io::Result<()> {
    for from in (0..size).step_by(ZEROS.len()) {
        let zeros = &ZEROS[..ZEROS.len().min(size - from)];
        file.write_all_at(zeros, offset + from as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u32 = 256;
    /// The events of a segment.
    const EVENTS: u64 = (SEGMENT as u64 - HEADER_BYTES as u64) / WORD_BYTES as u64;

    fn ring(directory: &Path, segments: u32, keep: u64) -> ThreadWriter {
        let options = WriterOptions {
            segment_bytes: SEGMENT,
            ring: Some(SegmentRing { segments, keep }),
        };
        ThreadWriter::create(directory, 1, options).expect("a file")
    }

    /// The number of segments in the file.
    fn segments(writer: &ThreadWriter) -> u64 {
        let length = std::fs::metadata(&writer.path).expect("the file").len();
        length.div_ceil(SEGMENT.into())
    }

    /// Writes this number of calls, one each 10 ticks.
    fn calls(writer: &mut ThreadWriter, from: u64, count: u64) -> u64 {
        for n in 0..count {
            writer.entry(from + 10 * n, 1);
            writer.exit(from + 10 * n + 5);
        }
        from + 10 * count
    }

    #[test]
    fn a_ring_grows_until_its_oldest_segment_is_old_enough() {
        let scratch = tempfile::tempdir().expect("a directory");
        // A segment has 12 calls, which take 120 ticks.
        assert_eq!(EVENTS, 24);
        let mut writer = ring(scratch.path(), 1_000, 500);
        let now = calls(&mut writer, 0, 1_000);
        // The last 500 ticks are in five segments; one is being written, one is just old enough.
        let busy = segments(&writer);
        assert!((6..=7).contains(&busy), "{busy}");
        // A segment that was kept is not older than necessary.
        let oldest = writer.kept.front().expect("a segment");
        assert!(now - oldest.last <= 500 + 120 * 2, "{oldest:?} at {now}");
        // A slower thread needs no more room.
        for n in 0..1_000 {
            writer.entry(now + 1_000 * n, 1);
            writer.exit(now + 1_000 * n + 5);
        }
        assert_eq!(segments(&writer), busy);
        // A faster one does.
        let mut now = now + 1_000_000;
        for _ in 0..1_000 {
            now += 1;
            writer.entry(now, 1);
            writer.exit(now);
        }
        assert!(segments(&writer) > 3 * busy, "{}", segments(&writer));
    }

    #[test]
    fn a_ring_has_a_largest_size() {
        let scratch = tempfile::tempdir().expect("a directory");
        for (segment_limit, expected) in [(0, 2), (2, 2), (5, 5)] {
            let mut writer = ring(scratch.path(), segment_limit, u64::MAX);
            calls(&mut writer, 0, 1_000);
            assert_eq!(segments(&writer), expected);
        }
    }

    #[test]
    fn a_short_ring_ends_with_its_last_event() {
        let scratch = tempfile::tempdir().expect("a directory");
        // Only a segment of whole pages can be closed.
        let segment_bytes = 1 << 16;
        let options = WriterOptions {
            segment_bytes,
            ring: Some(SegmentRing {
                segments: 9,
                keep: u64::MAX,
            }),
        };
        let mut writer = ThreadWriter::create(scratch.path(), 1, options).expect("a file");
        let in_segment = (u64::from(segment_bytes) - HEADER_BYTES as u64) / (2 * WORD_BYTES as u64);
        calls(&mut writer, 0, in_segment + 1);
        writer.close().expect("it is closed");
        let length = std::fs::metadata(&writer.path).expect("the file").len();
        // A full segment, and one with two events.
        assert_eq!(length, u64::from(segment_bytes) + HEADER_BYTES as u64 + 16);
    }
}
