//! Drained events on their way to the disk: two files that take turns, so that what is kept is bounded.
//!
//! ```text
//!   file     magic(8) number(8)  record…       the file with the higher number is the newer one
//!   record   length(4) checksum(4) ring(4) –(4) position(8)  event…
//! ```
//!
//! Ring and position say where the event was. A process may be killed after it wrote an event here and before it took it out
//! of the ring; then the event is in both, and the position tells.

use super::checksum::crc32;
use super::event::{Drained, decode};

const MAGIC: &[u8; 8] = b"veneer e";
const HEADER: usize = 24;

/// What a file begins with.
pub fn segment_header(number: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes
}

/// Appends the record of an event, given as its bytes in the ring, that began at a position of a ring.
pub fn spill(to: &mut Vec<u8>, ring: u32, position: u64, event: &[u8]) {
    let start = to.len();
    to.extend_from_slice(&((HEADER + event.len()) as u32).to_le_bytes());
    to.extend_from_slice(&[0; 4]);
    to.extend_from_slice(&ring.to_le_bytes());
    to.extend_from_slice(&[0; 4]);
    to.extend_from_slice(&position.to_le_bytes());
    to.extend_from_slice(event);
    let sum = crc32(&to[start + 8..]).to_le_bytes();
    to[start + 4..start + 8].copy_from_slice(&sum);
}

/// A drained event.
#[derive(Clone, Debug, PartialEq)]
pub struct Spilled {
    /// The ring that it came from.
    pub ring: u32,
    /// The position behind it there.
    pub end: u64,
    /// The event.
    pub event: Drained,
}

/// The number of a file and its events, up to the first record that is torn or damaged; the last part says whether there is
/// one. A file that does not begin as it should has number 0 and no events.
pub fn read_segment(bytes: &[u8]) -> (u64, Vec<Spilled>, bool) {
    let mut events = Vec::new();
    let Some((magic, number)) = bytes.get(..8).zip(word(bytes, 8)) else {
        return (0, events, !bytes.is_empty());
    };
    if magic != MAGIC {
        return (0, events, true);
    }
    let mut at = 16;
    while at < bytes.len() {
        let Some(record) = record(&bytes[at..]) else {
            return (number, events, true);
        };
        events.push(record.1);
        at += record.0;
    }
    (number, events, false)
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn record(bytes: &[u8]) -> Option<(usize, Spilled)> {
    let length = half(bytes, 0)? as usize;
    let record = bytes.get(..length)?;
    let event = record.get(HEADER..)?;
    if crc32(record.get(8..)?) != half(record, 4)? {
        return None;
    }
    let spilled = Spilled {
        ring: half(record, 8)?,
        end: word(record, 16)?.checked_add(event.len() as u64)?,
        event: decode(event),
    };
    Some((length, spilled))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let mut bytes = segment_header(9);
        for n in 0..3u64 {
            let mut event = vec![0; 48];
            event[32..40].copy_from_slice(&1u64.to_ne_bytes());
            event[40..48].copy_from_slice(&n.to_ne_bytes());
            spill(&mut bytes, 5, 48 * n, &event);
        }
        bytes
    }

    #[test]
    fn events_come_back_and_torn_ones_do_not() {
        let bytes = file();
        let (number, events, torn) = read_segment(&bytes);
        assert_eq!((number, events.len(), torn), (9, 3, false));
        assert_eq!((events[2].ring, events[2].end), (5, 144));
        for length in 0..bytes.len() {
            let (_, events, torn) = read_segment(&bytes[..length]);
            assert!(events.len() < 3);
            let whole = [0, 16, 88, 160].contains(&length);
            assert_eq!(torn, !whole, "{length}");
        }
    }

    #[test]
    fn no_damage_goes_unseen() {
        let bytes = file();
        for at in 16..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x40;
            let (_, events, torn) = read_segment(&bad);
            assert!(torn && events.len() < 3, "byte {at}");
        }
    }
}
