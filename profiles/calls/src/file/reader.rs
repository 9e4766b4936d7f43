//! Reads the file of a call profile.
//!
//! The reader adds each whole chunk to the profile. It stops at the first chunk that is cut or
//! damaged, because the records behind it could name what that chunk defined.

use std::io::{self, Read};

use thiserror::Error;

use super::varint::Records;
use super::{
    CHUNK_HEADER_BYTES, ChunkKind, HEADER_BYTES, MAGIC, MAJOR_VERSION, MAX_CHUNK_BYTES,
    RECORD_KINDS,
};
use crate::call::{CallKind, Site, UnseenClass};
use crate::context::{Context, ContextCost, ContextId, Origin, Parent, Thread, ThreadId};
use crate::method::{Loader, LoaderId, Method, MethodForm, MethodId, MethodName};
use crate::profile::CallProfile;

/// Why nothing was read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The input failed.
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The header is missing, damaged, or that of another format.
    #[error("this is no call profile of Veneer")]
    OtherFormat,
    /// The file has a newer major version.
    #[error(
        "this call profile has version {found}, and this veneer reads version {supported}; use a newer veneer"
    )]
    NewerVersion {
        /// The version of the file.
        found: u16,
        /// The version that this reader reads.
        supported: u16,
    },
}

/// How the file ended. Positions are in bytes from the beginning of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The file is complete.
    Complete,
    /// The end is missing. The recording process was killed, or the file was cut.
    Cut {
        /// The end of the last whole chunk.
        at: u64,
    },
    /// The chunk at this position is damaged. The records from there on are missing.
    Damaged {
        /// The beginning of the damaged chunk.
        at: u64,
        /// The kind of damage.
        damage: Damage,
    },
}

/// The kinds of damage of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Damage {
    /// The checksum of the chunk differs from that in its header.
    #[error("its checksum is wrong")]
    Checksum,
    /// The length in the header exceeds [`MAX_CHUNK_BYTES`](super::MAX_CHUNK_BYTES).
    #[error("it claims to be longer than a chunk can be")]
    TooLong,
    /// A record ends early, or names something that does not precede it.
    #[error("a record in it is malformed")]
    Record,
    /// The end record counts other records than the file has.
    #[error("the number of its records is not that of the file")]
    Count,
    /// The chunk follows the end record.
    #[error("it follows the end")]
    AfterEnd,
}

/// A profile and the state of its file.
#[derive(Clone, Debug)]
pub struct ReadResult {
    /// The records up to the end or to the first damaged chunk.
    pub profile: CallProfile,
    /// Whether the file was read to its end.
    pub ending: Ending,
    /// The number of chunks of unknown kinds, which a newer version wrote.
    pub unknown_chunks: u64,
}

/// Reads a profile. Reads in order and needs no position, so the input can be a pipe.
///
/// Memory is bounded by the size of the input, whatever the file claims.
pub fn read(mut input: impl Read) -> Result<ReadResult, ReadError> {
    read_header(&mut input)?;
    let mut reader = Reader::default();
    let mut unknown_chunks = 0;
    let mut at = HEADER_BYTES as u64;
    let mut is_complete = false;
    let ending = loop {
        let (code, records) = match read_chunk(&mut input)? {
            RawChunk::None if is_complete => break Ending::Complete,
            RawChunk::None | RawChunk::Cut if !is_complete => break Ending::Cut { at },
            RawChunk::Whole { code, records } if !is_complete => (code, records),
            RawChunk::Damaged(damage) if !is_complete => break Ending::Damaged { at, damage },
            _ => {
                let damage = Damage::AfterEnd;
                break Ending::Damaged { at, damage };
            }
        };
        match ChunkKind::from_code(code) {
            None => unknown_chunks += 1,
            Some(kind) => {
                if let Err(damage) = reader.chunk(kind, &records) {
                    break Ending::Damaged { at, damage };
                }
                is_complete = kind == ChunkKind::End;
            }
        }
        at += (CHUNK_HEADER_BYTES + records.len()) as u64;
    };
    Ok(ReadResult {
        profile: reader.profile,
        ending,
        unknown_chunks,
    })
}

fn read_header(input: &mut impl Read) -> Result<(), ReadError> {
    let mut header = Vec::new();
    input.take(HEADER_BYTES as u64).read_to_end(&mut header)?;
    let header: [u8; HEADER_BYTES] = header.try_into().map_err(|_| ReadError::OtherFormat)?;
    let (start, sum) = header.split_at(HEADER_BYTES - 4);
    if start[..8] != MAGIC || crc32fast::hash(start).to_le_bytes() != sum {
        return Err(ReadError::OtherFormat);
    }
    let found = u16::from_le_bytes([start[8], start[9]]);
    match found == MAJOR_VERSION {
        true => Ok(()),
        false if found > MAJOR_VERSION => Err(ReadError::NewerVersion {
            found,
            supported: MAJOR_VERSION,
        }),
        false => Err(ReadError::OtherFormat),
    }
}

/// The bytes of a chunk.
enum RawChunk {
    /// The input has ended.
    None,
    /// The input ended within the chunk.
    Cut,
    Damaged(Damage),
    Whole {
        code: u32,
        records: Vec<u8>,
    },
}

fn read_chunk(input: &mut impl Read) -> io::Result<RawChunk> {
    let mut header = Vec::new();
    input
        .take(CHUNK_HEADER_BYTES as u64)
        .read_to_end(&mut header)?;
    if header.is_empty() {
        return Ok(RawChunk::None);
    }
    let [l0, l1, l2, l3, s0, s1, s2, s3, k0, k1, k2, k3] = header[..] else {
        return Ok(RawChunk::Cut);
    };
    let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    if length > MAX_CHUNK_BYTES {
        return Ok(RawChunk::Damaged(Damage::TooLong));
    }
    let mut records = Vec::new();
    input.take(length as u64).read_to_end(&mut records)?;
    if records.len() < length {
        return Ok(RawChunk::Cut);
    }
    let code = [k0, k1, k2, k3];
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&code);
    hasher.update(&records);
    if hasher.finalize() != u32::from_le_bytes([s0, s1, s2, s3]) {
        return Ok(RawChunk::Damaged(Damage::Checksum));
    }
    let code = u32::from_le_bytes(code);
    Ok(RawChunk::Whole { code, records })
}

/// The state between two chunks. Equal records can occur twice, so the numbers of the file are not
/// the ids of the profile.
#[derive(Default)]
struct Reader {
    profile: CallProfile,
    strings: Vec<String>,
    loaders: Vec<LoaderId>,
    methods: Vec<MethodId>,
    threads: Vec<ThreadId>,
    contexts: Vec<ContextId>,
    counts: [u64; RECORD_KINDS],
}

impl Reader {
    /// Adds the records of a chunk.
    fn chunk(&mut self, kind: ChunkKind, bytes: &[u8]) -> Result<(), Damage> {
        let mut records = Records::new(bytes);
        let Some(position) = kind.position() else {
            return self.end(&mut records);
        };
        while !records.is_empty() {
            self.record(kind, &mut records).ok_or(Damage::Record)?;
            self.counts[position] += 1;
        }
        Ok(())
    }

    fn end(&self, records: &mut Records) -> Result<(), Damage> {
        for count in self.counts {
            if records.number().ok_or(Damage::Record)? != count {
                return Err(Damage::Count);
            }
        }
        match records.is_empty() {
            true => Ok(()),
            false => Err(Damage::Record),
        }
    }

    /// Adds a record; `None` if it is malformed.
    fn record(&mut self, kind: ChunkKind, from: &mut Records) -> Option<()> {
        match kind {
            ChunkKind::Info => {
                let (key, value) = (from.text()?, from.text()?);
                self.profile.add_info(key, value);
            }
            ChunkKind::Strings => self.strings.push(from.text()?.into()),
            ChunkKind::Loaders => {
                let loader = Loader {
                    name: self.string(from)?.into(),
                    number: u32::try_from(from.number()?).ok()?,
                };
                self.loaders.push(self.profile.add_loader(&loader));
            }
            ChunkKind::Methods => self.method(from)?,
            ChunkKind::Edges => {
                let caller = self.known_method(from)?;
                let site = site(from)?;
                let callee = self.known_method(from)?;
                let kind = CallKind::from_code(from.number()?);
                let count = from.number()?;
                self.profile.add_calls(caller, site, callee, kind, count);
            }
            ChunkKind::Allocations => {
                let method = self.known_method(from)?;
                let site = site(from)?;
                let type_name = self.strings.get(index(from)?)?;
                let count = from.number()?;
                self.profile.add_allocations(method, site, type_name, count);
            }
            ChunkKind::Threads => {
                let thread = Thread {
                    name: self.string(from)?.into(),
                    number: from.number()?,
                    is_virtual: from.number()? != 0,
                };
                self.threads.push(self.profile.add_thread(&thread));
            }
            ChunkKind::Contexts => self.context(from)?,
            ChunkKind::Unseen => {
                let class = self.string(from)?.into();
                let reason = self.string(from)?.into();
                self.profile.add_unseen(UnseenClass { class, reason });
            }
            ChunkKind::End => return None,
        }
        Some(())
    }

    fn method(&mut self, from: &mut Records) -> Option<()> {
        let method = Method {
            loader: *self.loaders.get(index(from)?)?,
            name: MethodName {
                class: self.string(from)?.into(),
                method: self.string(from)?.into(),
                descriptor: self.string(from)?.into(),
            },
            form: MethodForm::from_code(from.number()?)?,
            code_bytes: match from.optional()? {
                None => None,
                Some(bytes) => Some(u32::try_from(bytes).ok()?),
            },
            entries: from.optional()?,
        };
        self.methods.push(self.profile.add_method(method));
        Some(())
    }

    fn context(&mut self, from: &mut Records) -> Option<()> {
        let parent = from.number()?;
        let number = usize::try_from(parent / 2).ok()?;
        let parent = match (parent % 2 == 1, number.checked_sub(1)) {
            (true, None) => Parent::Root(None),
            (true, Some(thread)) => Parent::Root(Some(*self.threads.get(thread)?)),
            (false, _) => Parent::Context(*self.contexts.get(number)?),
        };
        let context = Context {
            parent,
            method: self.known_method(from)?,
            bci: from.optional_u16()?,
            origin: Origin::from_code(from.number()?),
            cost: ContextCost {
                calls: from.number()?,
                wall_ns: from.number()?,
                self_ns: from.number()?,
                cpu_ns: from.number()?,
                self_cpu_ns: from.number()?,
                allocations: from.number()?,
            },
        };
        self.contexts.push(self.profile.add_context(context));
        Some(())
    }

    fn string(&self, from: &mut Records) -> Option<&str> {
        self.strings.get(index(from)?).map(String::as_str)
    }

    fn known_method(&self, from: &mut Records) -> Option<MethodId> {
        self.methods.get(index(from)?).copied()
    }
}

fn index(from: &mut Records) -> Option<usize> {
    usize::try_from(from.number()?).ok()
}

fn site(from: &mut Records) -> Option<Site> {
    Some(Site {
        bci: from.optional_u16()?,
        line: from.optional_u16()?,
    })
}
