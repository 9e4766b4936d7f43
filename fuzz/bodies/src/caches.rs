//! Cache descriptions of any text, with any accesses.
//!
//! ```text
//!   input:  a description, a line feed, then 4 bytes for each access: address (2), length, kind
//! ```
//!
//! Promises: the code does not panic. A description is written as a text that parses to the same
//! description. For each access the simulator has the outcome of the naive model.

use veneer_memory::{Access, AccessKind, CacheDescription, Hierarchy, parse_description};

use crate::naive::Naive;

/// The most lines of a description that is simulated. Memory is then bounded.
const MAX_LINES: u64 = 1 << 16;

/// Parses a description, and simulates accesses in it.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n');
    let (text, accesses) = data.split_at(end.unwrap_or(data.len()));
    let Ok(description) = parse_description(&String::from_utf8_lossy(text)) else {
        return;
    };
    let written = description.to_string();
    assert_eq!(written.parse().as_ref(), Ok(&description), "{written:?}");
    if lines(&description) > MAX_LINES {
        return;
    }
    let (mut naive, mut fast) = (Naive::new(&description), Hierarchy::new(&description));
    for (number, row) in accesses.get(1..).unwrap_or(&[]).chunks_exact(4).enumerate() {
        if row[3] == u8::MAX {
            naive.flush();
            fast.flush();
            continue;
        }
        let low = u64::from(u16::from_le_bytes([row[0], row[1]]));
        let access = Access {
            // Some accesses are at the end of the address space.
            address: if row[3] & 4 == 0 { low } else { u64::MAX - low },
            bytes: row[2].into(),
            kind: [
                AccessKind::Read,
                AccessKind::Write,
                AccessKind::Modify,
                AccessKind::Fetch,
            ][usize::from(row[3] % 4)],
        };
        let expected = naive.access(&access);
        assert_eq!(fast.access(&access), expected, "{written}: access {number}");
    }
}

fn lines(description: &CacheDescription) -> u64 {
    let levels = description.levels.iter().chain(&description.instructions);
    let geometries = levels.map(|level| &level.geometry).chain(&description.tlbs);
    geometries.map(|geometry| geometry.lines()).sum()
}
