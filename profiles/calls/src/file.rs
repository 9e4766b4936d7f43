//! The file of a call profile. `docs/calls.md` describes the format for users.
//!
//! ```text
//!   file     magic(8) major(2) minor(2) checksum(4)  chunk…
//!   chunk    length(4) checksum(4) kind(4)  record…         length: bytes of the records
//! ```
//!
//! These numbers are little-endian. The checksum of the header is the CRC-32 (IEEE 802.3) of the 12
//! bytes before it. The checksum of a chunk is that of its kind and its records. The numbers in
//! records are LEB128, without sign.
//!
//! | kind | record |
//! | --- | --- |
//! | 1 info | key text, value text |
//! | 2 strings | text; the strings have the numbers 0, 1, … in the order of the file |
//! | 3 loaders | name string, number |
//! | 4 methods | loader, class string, name string, descriptor string, form, code bytes + 1, entries + 1 |
//! | 5 edges | caller, bytecode index + 1, line + 1, callee, kind, count |
//! | 6 allocations | method, bytecode index + 1, line + 1, type string, count |
//! | 7 threads | name string, number, virtual |
//! | 8 contexts | parent, method, bytecode index + 1, origin, calls, wall time, its self time, processor time, its self time, allocations |
//! | 9 unseen | class string, reason string |
//! | 10 end | the number of records of each of the kinds 1 to 9 |
//!
//! A text is its length in bytes and its UTF-8. A number in the form *x + 1* is 0 if *x* is unknown.
//! Loaders, methods, threads and contexts are numbered from 0 in the order of the file, and a record
//! names only what precedes it. The parent of a context is `2 × context`, or `2 × (thread + 1) + 1`
//! for the root of a thread, or `1` for a root of all threads together.
//!
//! **Appending.** A record that occurs twice is added: the counts of equal edges are added. So a
//! recorder can append the counts since it last wrote, and the file is complete up to its last whole
//! chunk at any time. If the process is killed, the end record is missing, and the reader says so.
//!
//! **Versions.** A reader accepts each minor version of its major version. It skips chunks of kinds
//! that it does not know, and reports that.

mod reader;
mod varint;
mod writer;

pub use reader::{Damage, Ending, ReadError, ReadResult, read};
pub use writer::{ProfileWriter, write};

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"veneerCG";
/// The version of the format. A reader refuses files of a greater one.
pub const MAJOR_VERSION: u16 = 1;
/// The version of the additions to the format. A reader accepts files of a greater one.
pub const MINOR_VERSION: u16 = 0;
/// The largest number of bytes of the records of a chunk.
pub const MAX_CHUNK_BYTES: usize = 1 << 20;

/// Bytes of the header of a file.
const HEADER_BYTES: usize = 16;
/// Bytes of a chunk before its records.
const CHUNK_HEADER_BYTES: usize = 12;

/// The kinds of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum ChunkKind {
    Info = 1,
    Strings = 2,
    Loaders = 3,
    Methods = 4,
    Edges = 5,
    Allocations = 6,
    Threads = 7,
    Contexts = 8,
    Unseen = 9,
    End = 10,
}

/// Number of kinds of chunks before [`ChunkKind::End`].
const RECORD_KINDS: usize = 9;

impl ChunkKind {
    const ALL: [ChunkKind; 10] = [
        ChunkKind::Info,
        ChunkKind::Strings,
        ChunkKind::Loaders,
        ChunkKind::Methods,
        ChunkKind::Edges,
        ChunkKind::Allocations,
        ChunkKind::Threads,
        ChunkKind::Contexts,
        ChunkKind::Unseen,
        ChunkKind::End,
    ];

    fn from_code(code: u32) -> Option<ChunkKind> {
        Self::ALL.into_iter().find(|kind| *kind as u32 == code)
    }

    /// The position in the list of record counts; `None` for the end record.
    fn position(self) -> Option<usize> {
        Some(self as usize - 1).filter(|position| *position < RECORD_KINDS)
    }
}
