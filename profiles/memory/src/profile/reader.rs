//! Reads a profile from a file of any content.

use std::io::Read;
use std::sync::Arc;

use super::encoding::Bytes;
use super::error::{MAX_PROFILE_BYTES, ProfileError};
use super::{
    AccessRow, AllocationRow, CacheCounts, LevelCount, MAGIC, MAJOR, MemoryProfile, SharingRow,
    Site, ThreadRow,
};
use crate::description::{MAX_LEVELS, MAX_TLB_LEVELS};
use crate::histogram::{BUCKETS, LogHistogram};
use crate::ledger::References;
use crate::lifetimes::Lifetimes;
use crate::miss_curve::{CurvePoint, MAX_CURVE_POINTS, MissCurve};

/// The most cache descriptions of a profile.
const MAX_CACHES: usize = 64;
/// Length of the magic number and the version.
const HEADER_BYTES: usize = MAGIC.len() + 2;
/// The known sections in their order, and whether a file may have several of them.
const SECTIONS: [([u8; 4], bool); 11] = [
    (*b"HEAD", false),
    (*b"NAME", false),
    (*b"SITE", false),
    (*b"TYPE", false),
    (*b"ACCS", true),
    (*b"ALLO", true),
    (*b"shar", true),
    (*b"curv", true),
    (*b"thrd", true),
    (*b"note", false),
    (*b"END ", false),
];

/// A profile that was read, and how complete the file was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileFile {
    /// The content of the file. If the file is truncated, it is the content of the sections before
    /// the cut.
    pub profile: MemoryProfile,
    /// Whether the file ends before its last section, for example because the writer was killed.
    pub is_truncated: bool,
    /// Sections of a newer version that were skipped.
    pub skipped: Vec<String>,
}

impl ProfileFile {
    /// Reads a profile. A file that is cut short yields the rows before the cut. A section whose
    /// checksum is wrong is an error.
    pub fn read(from: impl Read) -> Result<ProfileFile, ProfileError> {
        let mut bytes = Vec::new();
        from.take(MAX_PROFILE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_PROFILE_BYTES {
            return Err(ProfileError::TooLarge);
        }
        ProfileFile::from_bytes(&bytes)
    }

    /// Reads a profile from the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<ProfileFile, ProfileError> {
        let (header, mut rest) = bytes
            .split_at_checked(HEADER_BYTES)
            .filter(|(header, _)| header.starts_with(&MAGIC))
            .ok_or(ProfileError::NotAProfile)?;
        let major = header[MAGIC.len()];
        if major != MAJOR {
            return Err(ProfileError::Version { major });
        }
        let mut reading = Reading::default();
        while !reading.is_complete {
            let Some((section, after)) = next_section(rest)? else {
                break;
            };
            rest = after;
            reading.section(section)?;
        }
        Ok(ProfileFile {
            is_truncated: !reading.is_complete,
            profile: reading.profile,
            skipped: reading.skipped,
        })
    }
}

/// Splits the first section off. Returns `None` if the bytes end before the section does.
fn next_section(bytes: &[u8]) -> Result<Option<(Bytes<'_>, &[u8])>, ProfileError> {
    let Some((&tag, rest)) = bytes.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let Some((&length, rest)) = rest.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let Some((payload, rest)) = rest.split_at_checked(u32::from_le_bytes(length) as usize) else {
        return Ok(None);
    };
    let Some((&checksum, rest)) = rest.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..8 + payload.len()]);
    let section = Bytes {
        rest: payload,
        section: tag,
    };
    match hasher.finalize() == u32::from_le_bytes(checksum) {
        true => Ok(Some((section, rest))),
        false => Err(section.contradiction()),
    }
}

/// The part of a file that was read so far.
#[derive(Default)]
struct Reading {
    profile: MemoryProfile,
    names: Vec<Arc<str>>,
    /// The sections that may follow: an index into [`SECTIONS`].
    next: usize,
    is_complete: bool,
    skipped: Vec<String>,
}

impl Reading {
    fn section(&mut self, mut bytes: Bytes<'_>) -> Result<(), ProfileError> {
        let bytes = &mut bytes;
        self.keep_order(bytes)?;
        match &bytes.section {
            b"HEAD" => {
                self.profile.program = bytes.text()?;
                self.profile.caches = texts(bytes)?;
                if self.profile.caches.len() > MAX_CACHES {
                    return Err(bytes.contradiction());
                }
            }
            b"NAME" => self.names = texts(bytes)?.into_iter().map(Arc::from).collect(),
            b"SITE" => self.sites(bytes)?,
            b"TYPE" => {
                for _ in 0..bytes.count()? {
                    let name = self.name(bytes)?;
                    self.profile.types.push(name);
                }
            }
            b"ACCS" => {
                for _ in 0..bytes.count()? {
                    let row = self.access(&mut row(bytes)?)?;
                    self.profile.accesses.push(row);
                }
            }
            b"ALLO" => {
                for _ in 0..bytes.count()? {
                    let row = self.allocation(&mut row(bytes)?)?;
                    self.profile.allocations.push(row);
                }
            }
            b"shar" => {
                for _ in 0..bytes.count()? {
                    let row = self.sharing(&mut row(bytes)?)?;
                    self.profile.sharing.push(row);
                }
            }
            b"curv" => {
                for _ in 0..bytes.count()? {
                    let curve = curve(&mut row(bytes)?)?;
                    self.profile.curves.push(curve);
                }
            }
            b"thrd" => {
                for _ in 0..bytes.count()? {
                    let bytes = &mut row(bytes)?;
                    self.profile.threads.push(ThreadRow {
                        name: bytes.text()?,
                        objects: bytes.number()?,
                        bytes: bytes.number()?,
                    });
                }
            }
            b"note" => self.profile.notes = texts(bytes)?,
            b"END " => self.end(bytes)?,
            other => {
                let section = String::from_utf8_lossy(other).into_owned();
                // As in PNG: an upper-case tag is essential.
                if other[0].is_ascii_uppercase() {
                    return Err(ProfileError::UnknownSection { section });
                }
                self.skipped.push(section);
            }
        }
        Ok(())
    }

    /// Fails if a known section is not in its place. Rows refer to the sections before them, so a
    /// section that came later would contradict them.
    fn keep_order(&mut self, bytes: &Bytes<'_>) -> Result<(), ProfileError> {
        let known = SECTIONS.iter().position(|(tag, _)| *tag == bytes.section);
        let Some(position) = known else {
            return Ok(());
        };
        if position < self.next {
            return Err(bytes.contradiction());
        }
        let may_repeat = SECTIONS[position].1;
        self.next = if may_repeat { position } else { position + 1 };
        Ok(())
    }

    fn name(&self, bytes: &mut Bytes<'_>) -> Result<Arc<str>, ProfileError> {
        let index = bytes.index(self.names.len())?;
        Ok(self.names[index as usize].clone())
    }

    fn sites(&mut self, bytes: &mut Bytes<'_>) -> Result<(), ProfileError> {
        for _ in 0..bytes.count()? {
            let site = Site {
                class: self.name(bytes)?,
                method: self.name(bytes)?,
                line: match bytes.optional()? {
                    None => None,
                    Some(line) => Some(u32::try_from(line).map_err(|_| bytes.contradiction())?),
                },
                field: self.name(bytes)?,
            };
            self.profile.sites.push(site);
        }
        Ok(())
    }

    fn access(&self, bytes: &mut Bytes<'_>) -> Result<AccessRow, ProfileError> {
        let sites = self.profile.sites.len();
        let mut row = AccessRow {
            site: bytes.index(sites)?,
            type_id: bytes.optional_index(self.profile.types.len())?,
            allocated_at: bytes.optional_index(sites)?,
            references: References {
                reads: bytes.number()?,
                writes: bytes.number()?,
                fetches: bytes.number()?,
                bytes_read: bytes.number()?,
                bytes_written: bytes.number()?,
            },
            caches: Vec::new(),
        };
        let caches = bytes.count()?;
        if caches != self.profile.caches.len() {
            return Err(bytes.contradiction());
        }
        for _ in 0..caches {
            row.caches.push(CacheCounts {
                levels: levels(bytes, MAX_LEVELS)?,
                instructions: levels(bytes, 1)?,
                tlbs: levels(bytes, MAX_TLB_LEVELS)?,
            });
        }
        Ok(row)
    }

    fn allocation(&self, bytes: &mut Bytes<'_>) -> Result<AllocationRow, ProfileError> {
        Ok(AllocationRow {
            site: bytes.index(self.profile.sites.len())?,
            type_id: bytes.index(self.profile.types.len())?,
            objects: bytes.number()?,
            bytes: bytes.number()?,
            heap_objects: bytes.optional()?,
            heap_bytes: bytes.optional()?,
            lifetimes: match bytes.number()? {
                0 => None,
                1 => Some(Box::new(lifetimes(bytes)?)),
                _ => return Err(bytes.contradiction()),
            },
            heap_objects_margin: bytes.appended()?,
            heap_bytes_margin: bytes.appended()?,
        })
    }

    fn sharing(&self, bytes: &mut Bytes<'_>) -> Result<SharingRow, ProfileError> {
        let sites = self.profile.sites.len();
        Ok(SharingRow {
            writer: bytes.index(sites)?,
            other: bytes.index(sites)?,
            true_misses: bytes.number()?,
            false_misses: bytes.number()?,
        })
    }

    /// Compares the numbers of rows with those that the writer wrote.
    fn end(&mut self, bytes: &mut Bytes<'_>) -> Result<(), ProfileError> {
        let profile = &self.profile;
        let lengths = [
            profile.accesses.len(),
            profile.allocations.len(),
            profile.sharing.len(),
        ];
        for length in lengths {
            if bytes.number()? != length as u64 {
                return Err(bytes.contradiction());
            }
        }
        // Since version 1.2.
        for length in [profile.curves.len(), profile.threads.len()] {
            let written = match bytes.rest.is_empty() {
                true => 0,
                false => bytes.number()?,
            };
            if written != length as u64 {
                return Err(bytes.contradiction());
            }
        }
        self.is_complete = true;
        Ok(())
    }
}

/// Returns the bytes of the next row.
fn row<'a>(bytes: &mut Bytes<'a>) -> Result<Bytes<'a>, ProfileError> {
    let length = bytes.count()?;
    Ok(Bytes {
        rest: bytes.slice(length)?,
        section: bytes.section,
    })
}

fn curve(bytes: &mut Bytes<'_>) -> Result<MissCurve, ProfileError> {
    let mut curve = MissCurve {
        line_bytes: bytes.number()?,
        references: bytes.number()?,
        points: Vec::new(),
    };
    let count = bytes.count()?;
    if count >= MAX_CURVE_POINTS {
        return Err(bytes.contradiction());
    }
    for _ in 0..count {
        curve.points.push(CurvePoint {
            lines: bytes.number()?,
            misses: bytes.number()?,
            margin: bytes.number()?,
        });
    }
    match curve.is_valid() {
        true => Ok(curve),
        false => Err(bytes.contradiction()),
    }
}

fn texts(bytes: &mut Bytes<'_>) -> Result<Vec<String>, ProfileError> {
    let count = bytes.count()?;
    (0..count).map(|_| bytes.text()).collect()
}

fn levels(bytes: &mut Bytes<'_>, limit: usize) -> Result<Vec<LevelCount>, ProfileError> {
    let count = bytes.count()?;
    if count > limit {
        return Err(bytes.contradiction());
    }
    let mut levels = Vec::with_capacity(count);
    for _ in 0..count {
        levels.push(LevelCount {
            lookups: bytes.number()?,
            misses: bytes.number()?,
            margin: bytes.number()?,
        });
    }
    Ok(levels)
}

fn lifetimes(bytes: &mut Bytes<'_>) -> Result<Lifetimes, ProfileError> {
    let mut lives = Lifetimes {
        objects: bytes.number()?,
        bytes: bytes.number()?,
        void: bytes.number()?,
        alive: bytes.number()?,
        alive_bytes: bytes.number()?,
        ..Lifetimes::default()
    };
    for span in [&mut lives.used, &mut lives.drag, &mut lives.life] {
        for histogram in span {
            *histogram = self::histogram(bytes)?;
        }
    }
    lives.survived = histogram(bytes)?;
    Ok(lives)
}

fn histogram(bytes: &mut Bytes<'_>) -> Result<LogHistogram, ProfileError> {
    let mut histogram = LogHistogram::default();
    for _ in 0..bytes.count()? {
        let bucket = bytes.index(BUCKETS)? as usize;
        histogram.add_to_bucket(bucket, bytes.number()?);
    }
    Ok(histogram)
}
