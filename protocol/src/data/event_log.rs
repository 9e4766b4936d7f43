//! The event log on disk: events that the agent has drained from the ring buffers.
//!
//! The agent writes two files alternately and empties one when the other is full, so that the
//! size of the log is bounded.
//!
//! ```text
//!   file     magic(8) number(8)  record…       the file with the higher number is the newer one
//!   record   length(4) checksum(4) ring(4) unused(4) position(8)  event…
//! ```
//!
//! Numbers are little-endian, except within the event, whose numbers have the byte order of the
//! machine. The checksum is the CRC-32 (IEEE 802.3) of the bytes of the record that follow the
//! checksum.
//!
//! The ring number and the position identify an event. The agent first writes an event here and
//! then removes it from the ring buffer. If the process is killed between these steps, both files
//! contain the event, and the reader recognises the duplicate by its position.

use super::event::{DecodedEvent, decode_event};

const MAGIC: &[u8; 8] = b"veneer e";
/// Bytes of a record before its event.
const RECORD_HEADER: usize = 24;

/// The header of the file with this number.
pub fn segment_header(number: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes
}

/// Appends the record of an event to `to`. `event` is the bytes of the event in the ring buffer
/// `ring`, where the event began at `position`.
pub fn append_event_record(to: &mut Vec<u8>, ring: u32, position: u64, event: &[u8]) {
    let start = to.len();
    to.extend_from_slice(&((RECORD_HEADER + event.len()) as u32).to_le_bytes());
    to.extend_from_slice(&[0; 4]);
    to.extend_from_slice(&ring.to_le_bytes());
    to.extend_from_slice(&[0; 4]);
    to.extend_from_slice(&position.to_le_bytes());
    to.extend_from_slice(event);
    let sum = crc32fast::hash(&to[start + 8..]).to_le_bytes();
    to[start + 4..start + 8].copy_from_slice(&sum);
}

/// An event of the log with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// The number of the ring buffer that contained the event.
    pub ring: u32,
    /// The position after the event in that ring buffer.
    pub end: u64,
    /// The content of the event.
    pub event: DecodedEvent,
}

/// Parses a file of the event log and returns `(number, events, damaged)`.
///
/// Parsing stops at the first record that is torn or damaged; `damaged` is true if there is one. A
/// file with a wrong or incomplete header has number 0 and no events.
pub fn read_segment(bytes: &[u8]) -> (u64, Vec<EventRecord>, bool) {
    let mut events = Vec::new();
    let Some((magic, number)) = bytes.get(..8).zip(read_u64(bytes, 8)) else {
        return (0, events, !bytes.is_empty());
    };
    if magic != MAGIC {
        return (0, events, true);
    }
    let mut at = 16;
    while at < bytes.len() {
        let Some((length, spilled)) = read_record(&bytes[at..]) else {
            return (number, events, true);
        };
        events.push(spilled);
        at += length;
    }
    (number, events, false)
}

/// The little-endian number at this offset; `None` if `bytes` ends before.
fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The length and the event of the record at the start of `bytes`; `None` if it is torn or damaged.
fn read_record(bytes: &[u8]) -> Option<(usize, EventRecord)> {
    let length = read_u32(bytes, 0)? as usize;
    let record = bytes.get(..length)?;
    let event = record.get(RECORD_HEADER..)?;
    if crc32fast::hash(record.get(8..)?) != read_u32(record, 4)? {
        return None;
    }
    let spilled = EventRecord {
        ring: read_u32(record, 8)?,
        end: read_u64(record, 16)?.checked_add(event.len() as u64)?,
        event: decode_event(event),
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
            append_event_record(&mut bytes, 5, 48 * n, &event);
        }
        bytes
    }

    #[test]
    fn a_record_has_its_documented_bytes() {
        let mut bytes = Vec::new();
        append_event_record(&mut bytes, 5, 48, b"12345678");
        let mut expected = Vec::new();
        for half in [32u32, 0x4538717D, 5, 0, 48, 0] {
            expected.extend_from_slice(&half.to_le_bytes());
        }
        expected.extend_from_slice(b"12345678");
        assert_eq!(bytes, expected);
    }

    #[test]
    fn complete_events_are_read_and_torn_ones_are_not() {
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
    fn every_damaged_byte_is_noticed() {
        let bytes = file();
        for at in 16..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x40;
            let (_, events, torn) = read_segment(&bad);
            assert!(torn && events.len() < 3, "byte {at}");
        }
    }
}
