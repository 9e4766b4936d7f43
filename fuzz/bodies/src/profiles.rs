//! Memory profiles from any bytes.
//!
//! Promises: the code does not panic, and its memory is bounded by the input. A profile that was read
//! from a complete file is written as a file from which the same profile is read.

use veneer_memory::profile::{Dimension, MAGIC, MAJOR, ProfileFile};

use crate::memory;

/// Bytes of memory that reading may hold for each byte of input. The histograms of a lifetime have
/// 5 KB, and 20 bytes of a file are enough for empty ones.
const MEMORY_FACTOR: usize = 512;
/// Bytes of memory that reading may hold in addition.
const MEMORY_BASE: usize = 256 << 10;

/// Reads the input as a file, and as the sections of a file.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    file(data);
    if let Some(sections) = with_checksums(data) {
        file(&sections);
    }
}

fn file(data: &[u8]) {
    let limit = MEMORY_BASE + MEMORY_FACTOR * data.len();
    let read = memory::within(limit, "reading a profile", || ProfileFile::from_bytes(data));
    let Ok(file) = read else {
        return;
    };
    for (_, dimension) in Dimension::ALL {
        let _ = file.profile.view(dimension);
    }
    if file.is_truncated {
        return;
    }
    let mut written = Vec::new();
    if let Err(error) = file.profile.write(&mut written) {
        panic!("what was read cannot be written: {error}");
    }
    match ProfileFile::from_bytes(&written) {
        Ok(again) => assert_eq!(again.profile, file.profile),
        Err(error) => panic!("what was written cannot be read: {error}"),
    }
}

/// Makes a file with correct checksums. The input is a sequence of sections: a tag of 4 bytes, a
/// length of 2 bytes, and the payload. A mutator would not find the checksums.
fn with_checksums(mut data: &[u8]) -> Option<Vec<u8>> {
    let mut file = MAGIC.to_vec();
    file.extend([MAJOR, 0]);
    while let Some((head, rest)) = data.split_first_chunk::<6>() {
        let length = usize::from(u16::from_le_bytes([head[4], head[5]]));
        let (payload, rest) = rest.split_at_checked(length)?;
        let mut section = head[..4].to_vec();
        section.extend((length as u32).to_le_bytes());
        section.extend(payload);
        let checksum = crc32fast::hash(&section);
        file.extend(section);
        file.extend(checksum.to_le_bytes());
        data = rest;
    }
    Some(file)
}
