//! Writes the file of a call profile, record by record.

use std::collections::HashMap;
use std::io::{self, Write};

use super::varint::{put, put_text};
use super::{ChunkKind, MAGIC, MAJOR_VERSION, MAX_CHUNK_BYTES, MINOR_VERSION, RECORD_KINDS};
use crate::call::{Allocation, CallEdge, UnseenClass};
use crate::context::{Context, Parent, Thread};
use crate::method::{Loader, Method};
use crate::profile::CallProfile;

/// The number of bytes at which a chunk is written.
const CHUNK_BYTES: usize = 64 << 10;
/// The most bytes of one text. Longer texts are cut, so that each record fits into a chunk.
const MAX_TEXT_BYTES: usize = MAX_CHUNK_BYTES / 4;

/// Writes records to a stream. The writer holds one chunk in memory, and all strings.
///
/// The ids in the records are those of the file: the caller adds loaders, methods, threads and
/// contexts in the order of their ids. A writer that is dropped without [`ProfileWriter::finish`]
/// leaves a file that the reader reports as incomplete.
pub struct ProfileWriter<W> {
    out: W,
    strings: HashMap<String, u64>,
    /// Records of [`ChunkKind::Strings`] that precede the current chunk.
    new_strings: Vec<u8>,
    kind: ChunkKind,
    records: Vec<u8>,
    counts: [u64; RECORD_KINDS],
}

impl<W: Write> ProfileWriter<W> {
    /// Writes the header of the file.
    pub fn new(mut out: W) -> io::Result<ProfileWriter<W>> {
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(&MAJOR_VERSION.to_le_bytes());
        header.extend_from_slice(&MINOR_VERSION.to_le_bytes());
        header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
        out.write_all(&header)?;
        Ok(ProfileWriter {
            out,
            strings: HashMap::new(),
            new_strings: Vec::new(),
            kind: ChunkKind::Info,
            records: Vec::new(),
            counts: [0; RECORD_KINDS],
        })
    }

    /// Adds a fact about the recording.
    pub fn info(&mut self, key: &str, value: &str) -> io::Result<()> {
        self.begin(ChunkKind::Info)?;
        put_text(&mut self.records, cut(key));
        put_text(&mut self.records, cut(value));
        Ok(())
    }

    /// Adds the next loader.
    pub fn loader(&mut self, loader: &Loader) -> io::Result<()> {
        let name = self.string(&loader.name)?;
        self.record(ChunkKind::Loaders, &[name, u64::from(loader.number)])
    }

    /// Adds the next method.
    pub fn method(&mut self, method: &Method) -> io::Result<()> {
        let record = [
            u64::from(method.loader.0),
            self.string(&method.name.class)?,
            self.string(&method.name.method)?,
            self.string(&method.name.descriptor)?,
            u64::from(method.form.code()),
            method.code_bytes.map_or(0, |bytes| u64::from(bytes) + 1),
            method
                .entries
                .map_or(0, |entries| entries.saturating_add(1)),
        ];
        self.record(ChunkKind::Methods, &record)
    }

    /// Adds the calls along one edge.
    pub fn edge(&mut self, edge: &CallEdge) -> io::Result<()> {
        let record = [
            u64::from(edge.caller.0),
            optional(edge.site.bci),
            optional(edge.site.line),
            u64::from(edge.callee.0),
            edge.kind.code(),
            edge.count,
        ];
        self.record(ChunkKind::Edges, &record)
    }

    /// Adds allocated objects.
    pub fn allocation(&mut self, allocation: &Allocation) -> io::Result<()> {
        let record = [
            u64::from(allocation.method.0),
            optional(allocation.site.bci),
            optional(allocation.site.line),
            self.string(&allocation.type_name)?,
            allocation.count,
        ];
        self.record(ChunkKind::Allocations, &record)
    }

    /// Adds the next thread.
    pub fn thread(&mut self, thread: &Thread) -> io::Result<()> {
        let name = self.string(&thread.name)?;
        let record = [name, thread.number, u64::from(thread.is_virtual)];
        self.record(ChunkKind::Threads, &record)
    }

    /// Adds the next context.
    pub fn context(&mut self, context: &Context) -> io::Result<()> {
        let parent = match context.parent {
            Parent::Root(None) => 1,
            Parent::Root(Some(thread)) => 2 * (u64::from(thread.0) + 1) + 1,
            Parent::Context(parent) => 2 * u64::from(parent.0),
        };
        let record = [
            parent,
            u64::from(context.method.0),
            optional(context.bci),
            context.origin.code(),
            context.cost.calls,
            context.cost.wall_ns,
            context.cost.self_ns,
            context.cost.cpu_ns,
            context.cost.self_cpu_ns,
            context.cost.allocations,
        ];
        self.record(ChunkKind::Contexts, &record)
    }

    /// Adds a class whose calls are missing.
    pub fn unseen(&mut self, unseen: &UnseenClass) -> io::Result<()> {
        let record = [self.string(&unseen.class)?, self.string(&unseen.reason)?];
        self.record(ChunkKind::Unseen, &record)
    }

    /// Writes what the writer holds. What was added before is then readable, even if the process is
    /// killed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_chunks()?;
        self.out.flush()
    }

    /// Writes the end of the file and returns the stream.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_chunks()?;
        let mut end = Vec::new();
        for count in self.counts {
            put(&mut end, count);
        }
        write_chunk(&mut self.out, ChunkKind::End, &end)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn record(&mut self, kind: ChunkKind, numbers: &[u64]) -> io::Result<()> {
        self.begin(kind)?;
        for number in numbers {
            put(&mut self.records, *number);
        }
        Ok(())
    }

    /// Begins a record.
    fn begin(&mut self, kind: ChunkKind) -> io::Result<()> {
        if kind != self.kind || self.records.len() >= CHUNK_BYTES {
            self.write_chunks()?;
        }
        self.kind = kind;
        if let Some(position) = kind.position() {
            self.counts[position] += 1;
        }
        Ok(())
    }

    /// The number of a string, which is added if it is new.
    fn string(&mut self, text: &str) -> io::Result<u64> {
        let text = cut(text);
        if let Some(number) = self.strings.get(text) {
            return Ok(*number);
        }
        if self.new_strings.len() >= CHUNK_BYTES {
            self.write_chunks()?;
        }
        let number = self.strings.len() as u64;
        self.strings.insert(text.into(), number);
        put_text(&mut self.new_strings, text);
        self.counts[ChunkKind::Strings as usize - 1] += 1;
        Ok(number)
    }

    /// Writes the strings first, because the other records name them.
    fn write_chunks(&mut self) -> io::Result<()> {
        if !self.new_strings.is_empty() {
            write_chunk(&mut self.out, ChunkKind::Strings, &self.new_strings)?;
            self.new_strings.clear();
        }
        if !self.records.is_empty() {
            write_chunk(&mut self.out, self.kind, &self.records)?;
            self.records.clear();
        }
        Ok(())
    }
}

fn optional(number: Option<u16>) -> u64 {
    number.map_or(0, |number| u64::from(number) + 1)
}

/// The beginning of a text that fits into a record.
fn cut(text: &str) -> &str {
    let mut length = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    &text[..length]
}

fn write_chunk(out: &mut impl Write, kind: ChunkKind, records: &[u8]) -> io::Result<()> {
    let code = (kind as u32).to_le_bytes();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&code);
    hasher.update(records);
    out.write_all(&(records.len() as u32).to_le_bytes())?;
    out.write_all(&hasher.finalize().to_le_bytes())?;
    out.write_all(&code)?;
    out.write_all(records)
}

/// Writes a whole profile.
pub fn write<W: Write>(profile: &CallProfile, out: W) -> io::Result<W> {
    let mut writer = ProfileWriter::new(out)?;
    for (key, values) in profile.info() {
        for value in values {
            writer.info(key, value)?;
        }
    }
    profile
        .loaders()
        .iter()
        .try_for_each(|one| writer.loader(one))?;
    profile
        .methods()
        .iter()
        .try_for_each(|one| writer.method(one))?;
    profile
        .edges()
        .iter()
        .try_for_each(|one| writer.edge(one))?;
    let allocations = profile.allocations();
    allocations
        .iter()
        .try_for_each(|one| writer.allocation(one))?;
    profile
        .threads()
        .iter()
        .try_for_each(|one| writer.thread(one))?;
    profile
        .contexts()
        .iter()
        .try_for_each(|one| writer.context(one))?;
    profile
        .unseen()
        .iter()
        .try_for_each(|one| writer.unseen(one))?;
    writer.finish()
}
