//! The events of one thread, with their index.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::byte_source::ByteSource;
use super::events::EventReader;
use super::findings::Findings;
use super::index::ThreadIndex;
use super::index_file::{self, TraceStamp};
use super::name_table::Names;
use super::segment_table::SegmentTable;
use super::tree::{TreeBuilder, Visitor};
use crate::error::TraceError;
use crate::format::NAMES_FILE;
use crate::format::segment::{HEADER_BYTES, MAX_SEGMENT_BYTES};

/// The folder of a trace directory that holds the indices.
const INDEX_FOLDER: &str = "index";

/// The events of one thread.
pub struct ThreadTrace {
    source: Box<dyn ByteSource>,
    table: SegmentTable,
    /// Summaries of the events.
    pub index: ThreadIndex,
    /// The number of the thread in the trace.
    pub thread: u32,
}

impl ThreadTrace {
    /// Opens the events file of a thread. Uses its index, or builds the index and stores it. If
    /// the index cannot be stored, for instance in a read-only directory, it is kept in memory.
    pub fn open(
        directory: &Path,
        path: &Path,
        thread: u32,
        names: &Names,
    ) -> Result<ThreadTrace, TraceError> {
        let at = |error| TraceError::io(path, error);
        let file = File::open(path).map_err(at)?;
        let stored = directory
            .join(INDEX_FOLDER)
            .join(format!("thread-{thread}.index"));
        let stamp = stamp(directory, &file).map_err(at)?;
        if let Ok(bytes) = fs::read(&stored)
            && let Some(index) = index_file::decode(&bytes, &stamp)
        {
            return Ok(ThreadTrace {
                table: index.table(),
                source: Box::new(file),
                index,
                thread,
            });
        }
        let trace = ThreadTrace::of_source(Box::new(file), thread, names);
        let (trace, future) = trace.map_err(at)?;
        if let (Some((major, minor)), true) = (future, trace.table.places.is_empty()) {
            return Err(TraceError::FutureVersion {
                path: path.to_path_buf(),
                major,
                minor,
            });
        }
        store(&stored, &index_file::encode(&trace.index, &stamp));
        Ok(trace)
    }

    /// Reads a thread from any source, without a stored index. Returns also the later version of
    /// segments that were skipped.
    pub fn of_source(
        source: Box<dyn ByteSource>,
        thread: u32,
        names: &Names,
    ) -> std::io::Result<(ThreadTrace, Option<(u16, u16)>)> {
        let mut findings = Findings::default();
        let table = SegmentTable::scan(source.as_ref(), thread, &mut findings)?;
        let index = ThreadIndex::build(source.as_ref(), &table, names, findings)?;
        let future = table.future;
        let trace = ThreadTrace {
            source,
            table,
            index,
            thread,
        };
        Ok((trace, future))
    }

    /// Reads all nodes.
    pub fn read(&self, names: &Names, visitor: &mut impl Visitor) -> std::io::Result<()> {
        let mut reader = self.events(0);
        let mut builder = TreeBuilder::default();
        while builder.read_segment(&mut reader, names, visitor)? {}
        Ok(())
    }

    /// A reader of the events that begins at this segment.
    pub fn events(&self, segment: usize) -> EventReader<'_> {
        EventReader::new(self.source.as_ref(), &self.table, segment)
    }
}

/// Identifies the content of the files. A recorder that writes into the last segment changes
/// neither length nor modification time, so the stamp contains a checksum of that segment.
fn stamp(directory: &Path, file: &File) -> std::io::Result<TraceStamp> {
    let metadata = file.metadata()?;
    let names = fs::metadata(directory.join(NAMES_FILE))?;
    let seconds = u64::try_from(metadata.mtime()).unwrap_or(0);
    let nanoseconds = u64::try_from(metadata.mtime_nsec()).unwrap_or(0);
    Ok(TraceStamp {
        events_bytes: metadata.len(),
        modified_ns: seconds.saturating_mul(1_000_000_000) + nanoseconds,
        names_bytes: names.len(),
        edges: edges(file, metadata.len())?,
    })
}

/// The checksum of the first header and of the end of the file, which the recorder changes.
fn edges(file: &File, length: u64) -> std::io::Result<u64> {
    const END_BYTES: u64 = 2 << 20;
    let mut bytes = vec![0; HEADER_BYTES];
    let read = file.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    let end = length.min(END_BYTES.min(MAX_SEGMENT_BYTES.into()));
    let from = length - end;
    let mut last = vec![0; usize::try_from(end).unwrap_or(0)];
    let read = file.read_at(from, &mut last)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes);
    hasher.update(last.get(..read).unwrap_or_default());
    Ok(hasher.finalize().into())
}

/// Stores the index under a temporary name first, so that no reader sees a part of it.
fn store(path: &Path, bytes: &[u8]) {
    let temporary = path.with_extension(format!("{}.new", std::process::id()));
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&temporary, bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The next reader builds the index again.
        let _ = fs::remove_file(&temporary);
    }
}
