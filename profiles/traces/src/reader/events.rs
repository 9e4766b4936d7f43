//! Reads the events of one thread in order.

use super::arguments::{Argument, arguments};
use super::byte_source::ByteSource;
use super::findings::Findings;
use super::segment_table::{SegmentPlace, SegmentTable};
use crate::format::segment::{HEADER_BYTES, UNKNOWN_DEPTH};
use crate::format::word::{
    FIRST_ARGUMENT, FIRST_LONG, WORD_BYTES, argument, delta_of, id_of, kind, kind_of, value_of,
};

/// One step through the events of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An event. Its arguments are [`EventReader::argument_words`].
    Event {
        /// The kind of the event, as in [`kind`].
        kind: u8,
        /// The id; 0 for kinds without an id.
        id: u64,
        /// The time in ticks.
        time: u64,
    },
    /// A segment begins.
    Segment {
        /// The position in the segment table.
        number: usize,
        /// Whether segments are missing before this one.
        follows_gap: bool,
        /// The number of open nodes, if the recorder knew it.
        depth: Option<u32>,
        /// The time in ticks to which the next delta is added.
        time: u64,
    },
    /// All events have been read.
    End,
}

/// Reads the events of one thread. It holds one segment in memory.
pub struct EventReader<'t> {
    source: &'t dyn ByteSource,
    places: &'t [SegmentPlace],
    next: usize,
    buffer: Vec<u8>,
    /// Offset of the next word in the buffer.
    at: usize,
    time: u64,
    argument_words: Vec<u64>,
    /// Words that could not be used.
    pub findings: Findings,
}

impl<'t> EventReader<'t> {
    /// Begins at this segment of the table.
    pub fn new(source: &'t dyn ByteSource, table: &'t SegmentTable, first: usize) -> Self {
        EventReader {
            source,
            places: &table.places,
            next: first,
            buffer: Vec::new(),
            at: 0,
            time: 0,
            argument_words: Vec::new(),
            findings: Findings::default(),
        }
    }

    /// The position in the segment table of the segment that is read next.
    pub fn next_segment(&self) -> usize {
        self.next
    }

    /// Continues with another segment. The rest of the current one is skipped.
    pub fn jump_to(&mut self, segment: usize) {
        self.next = segment;
        self.buffer.clear();
        self.at = 0;
    }

    /// Whether the next step begins another segment. Skips words before it that make no step.
    #[inline]
    pub fn is_before_segment(&mut self) -> bool {
        self.skip_silent_words();
        kind_of(self.word()) == 0 && self.next < self.places.len()
    }

    /// The words of the arguments of the latest event.
    pub fn argument_words(&self) -> &[u64] {
        &self.argument_words
    }

    /// Reads the next event, or the beginning of the next segment.
    #[inline]
    pub fn step(&mut self) -> std::io::Result<Step> {
        self.skip_silent_words();
        let word = self.word();
        if kind_of(word) == 0 {
            return self.begin_segment();
        }
        let id = self.take_event(word);
        Ok(Step::Event {
            kind: kind_of(word),
            id,
            time: self.time,
        })
    }

    /// Skips arguments that belong to no event, and events that only advance the time.
    #[inline]
    fn skip_silent_words(&mut self) {
        loop {
            let word = self.word();
            match kind_of(word) {
                kind::TIME => {
                    self.take_event(word);
                }
                event if event >= FIRST_ARGUMENT => {
                    self.at += WORD_BYTES;
                    self.findings.stray_arguments += 1;
                }
                _ => return,
            }
        }
    }

    /// Takes an event, which begins with `word`, and its arguments. Returns its id.
    #[inline]
    fn take_event(&mut self, word: u64) -> u64 {
        self.at += WORD_BYTES;
        self.time = self.time.saturating_add(delta_of(word));
        let mut id = match kind_of(word) < FIRST_LONG {
            true => id_of(word),
            false => 0,
        };
        if !self.argument_words.is_empty() {
            self.argument_words.clear();
        }
        while kind_of(self.word()) >= FIRST_ARGUMENT {
            let word = self.word();
            self.at += WORD_BYTES;
            match kind_of(word) {
                argument::ID => id = value_of(word),
                _ => self.argument_words.push(word),
            }
        }
        id
    }

    /// The arguments of the latest event.
    pub fn arguments(&self) -> impl Iterator<Item = Argument> + '_ {
        arguments(&self.argument_words)
    }

    /// The next word of the segment, or 0 at its end.
    #[inline]
    fn word(&self) -> u64 {
        match self.buffer.get(self.at..self.at + WORD_BYTES) {
            Some(bytes) => bytes.try_into().map_or(0, u64::from_le_bytes),
            None => 0,
        }
    }

    fn begin_segment(&mut self) -> std::io::Result<Step> {
        let Some(place) = self.places.get(self.next) else {
            self.jump_to(self.next);
            return Ok(Step::End);
        };
        let size = place.header.segment_bytes as usize;
        self.buffer.resize(size, 0);
        let read = self.source.read_at(place.offset, &mut self.buffer)?;
        self.buffer.truncate(read);
        self.at = HEADER_BYTES;
        self.time = place.header.start;
        let number = self.next;
        self.next += 1;
        Ok(Step::Segment {
            number,
            follows_gap: place.follows_gap,
            depth: (place.header.depth != UNKNOWN_DEPTH).then_some(place.header.depth),
            time: self.time,
        })
    }
}
