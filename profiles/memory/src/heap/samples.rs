//! The file with the samples of one recording.
//!
//! ```text
//!   file     = "VNRHEAP\n"  version: 4 bytes  refused: 4 bytes  interval  lost  samples  types  { sample }  { type }
//!   sample   = site  type  bytes of an object  number of samples
//!   type     = type  bytes of an object
//! ```
//!
//! All numbers are little-endian and have 8 bytes unless stated.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use thiserror::Error;

use super::SAMPLING_INTERVALS;

const MAGIC: [u8; 8] = *b"VNRHEAP\n";
const VERSION: u32 = 1;
/// The most rows of each kind, which a reader accepts.
const MAX_ROWS: u64 = 1 << 24;
/// The name of the file in the directory of a recording.
pub const HEAP_FILE: &str = "heap.samples";

/// Why a file has no samples.
#[derive(Debug, Error)]
pub enum SamplesError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file has another format.
    #[error("this is no file of heap samples of version {VERSION}")]
    Foreign,
}

/// The samples of objects of one size, type and allocation site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapSample {
    /// The number of the instruction (`veneer_names::site_id`); 0 for other code.
    pub site: u64,
    /// The number of the type's name.
    pub type_id: u64,
    /// The size of an object.
    pub object_bytes: u64,
    /// The number of samples.
    pub samples: u64,
}

/// The size of all objects of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSize {
    /// The number of the type's name.
    pub type_id: u64,
    /// The size of an object.
    pub object_bytes: u64,
}

/// The samples of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapSamples {
    /// The mean number of bytes between two samples.
    pub interval: u64,
    /// Whether the JVM gave no samples, because another agent takes them.
    pub is_refused: bool,
    /// The samples that found no room in the memory of the agent.
    pub lost: u64,
    /// The samples, each of one site, type and size.
    pub samples: Vec<HeapSample>,
    /// The sizes of allocated classes.
    pub sizes: Vec<TypeSize>,
}

impl HeapSamples {
    /// Writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&u32::from(self.is_refused).to_le_bytes())?;
        let counts = [self.samples.len() as u64, self.sizes.len() as u64];
        let head = [self.interval, self.lost].into_iter().chain(counts);
        let rows = self.samples.iter();
        let rows = rows.flat_map(|row| [row.site, row.type_id, row.object_bytes, row.samples]);
        let sizes = self.sizes.iter();
        let sizes = sizes.flat_map(|row| [row.type_id, row.object_bytes]);
        for word in head.chain(rows).chain(sizes) {
            out.write_all(&word.to_le_bytes())?;
        }
        out.flush()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, ends early or has another format.
    pub fn read(path: &Path) -> Result<HeapSamples, SamplesError> {
        HeapSamples::parse(BufReader::new(File::open(path)?))
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// As for [`HeapSamples::read`].
    pub fn parse(mut from: impl Read) -> Result<HeapSamples, SamplesError> {
        let mut head = [0; 16];
        from.read_exact(&mut head)?;
        let (magic, rest) = head.split_at(8);
        let (version, refused) = rest.split_at(4);
        let is_refused = refused == 1u32.to_le_bytes();
        let has_known_form = magic == MAGIC && version == VERSION.to_le_bytes();
        if !has_known_form || !(is_refused || refused == [0; 4]) {
            return Err(SamplesError::Foreign);
        }
        let [interval, lost, samples, sizes] = words(&mut from)?;
        let is_valid = SAMPLING_INTERVALS.contains(&interval);
        if !is_valid || samples > MAX_ROWS || sizes > MAX_ROWS {
            return Err(SamplesError::Foreign);
        }
        let mut read = HeapSamples {
            interval,
            is_refused,
            lost,
            ..HeapSamples::default()
        };
        for _ in 0..samples {
            let [site, type_id, object_bytes, samples] = words(&mut from)?;
            read.samples.push(HeapSample {
                site,
                type_id,
                object_bytes,
                samples,
            });
        }
        for _ in 0..sizes {
            let [type_id, object_bytes] = words(&mut from)?;
            read.sizes.push(TypeSize {
                type_id,
                object_bytes,
            });
        }
        Ok(read)
    }
}

fn words<const N: usize>(from: &mut impl Read) -> io::Result<[u64; N]> {
    let mut words = [0; N];
    for word in &mut words {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        *word = u64::from_le_bytes(bytes);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written_and_other_bytes_are_refused() {
        let written = HeapSamples {
            interval: 64 << 10,
            is_refused: true,
            lost: 3,
            samples: vec![HeapSample {
                site: u64::MAX - 4,
                type_id: 7,
                object_bytes: 24,
                samples: 99,
            }],
            sizes: vec![TypeSize {
                type_id: 7,
                object_bytes: 24,
            }],
        };
        let file = tempfile::NamedTempFile::new().expect("a file");
        written.write(file.path()).expect("written");
        let bytes = std::fs::read(file.path()).expect("bytes");
        let read = HeapSamples::parse(&bytes[..]).expect("samples");
        assert_eq!(read, written);
        for length in 0..bytes.len() {
            assert!(HeapSamples::parse(&bytes[..length]).is_err());
        }
        for (at, byte) in [(0, 0), (8, 2), (12, 2), (16 + 2, 0), (16 + 16 + 7, 1)] {
            let mut damaged = bytes.clone();
            damaged[at] = byte;
            let error = HeapSamples::parse(&damaged[..]);
            assert!(matches!(error, Err(SamplesError::Foreign)), "{at}");
        }
    }
}
