//! The file of a call profile with any bytes.
//!
//! Promises: the code does not panic. Memory is bounded by the input's size. A profile that was read
//! is written, and is the same when it is read again. Each view can be made of it.
//!
//! Random bytes hardly ever have a right checksum. So the body reads the input as it is, and once
//! more with all checksums corrected.

use veneer_calls::file::{self, Ending};
use veneer_calls::output::{collapsed, csv, dot, firefox, json, pprof};
use veneer_calls::tree::{self, TreeLimits};
use veneer_calls::{CallProfile, Labels, Selection, gprof};

use crate::memory;

/// Bytes of memory that reading may hold for each byte of input.
const MEMORY_FACTOR: usize = 256;
/// Bytes of memory that reading may hold in addition.
const MEMORY_BASE: usize = 256 << 10;
/// Sizes of the header of the file and of a chunk. `docs/calls.md` has the layout.
const HEADER: usize = 16;
const CHUNK_HEADER: usize = 12;
/// The most contexts of a profile whose stacks are written. The text of all stacks of a path has the
/// square of its length.
const MAX_STACKS: usize = 300;

/// Reads the input as a file of a call profile.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    read(data);
    read(&with_checksums(data));
}

fn read(data: &[u8]) {
    let limit = MEMORY_BASE + MEMORY_FACTOR * data.len();
    let result = memory::within(limit, "reading a call profile", || file::read(data));
    let Ok(result) = result else {
        return;
    };
    let written = write(&result.profile);
    let again = match file::read(&written[..]) {
        Ok(again) => again,
        Err(error) => panic!("a written profile is not read: {error}"),
    };
    assert_eq!(
        again.ending,
        Ending::Complete,
        "a written profile is incomplete"
    );
    assert!(
        write(&again.profile) == written,
        "read otherwise than written"
    );
    views(&result.profile);
}

fn write(profile: &CallProfile) -> Vec<u8> {
    match file::write(profile, Vec::new()) {
        Ok(bytes) => bytes,
        Err(error) => panic!("a profile is not written: {error}"),
    }
}

/// Makes every view of a profile.
fn views(profile: &CallProfile) {
    let selection = Selection::all(profile);
    let labels = Labels::new(profile);
    let limits = TreeLimits {
        depth: 20,
        nodes: 100,
    };
    let _ = tree::calls(&selection, limits).to_text(&labels, true);
    let targets: Vec<_> = profile.method_ids().take(3).collect();
    let _ = tree::callers(&selection, &targets, limits).to_text(&labels, false);
    let entries = gprof::entries(&selection);
    let _ = gprof::to_text(&entries, &profile.method_costs(), &labels);
    let _ = (profile.package_costs(), profile.never_called());
    let folded = profile.fold_recursion();
    assert!(
        folded.contexts().len() <= profile.contexts().len(),
        "folding adds contexts"
    );
    let mut sum = CallProfile::new();
    sum.merge(profile);
    sum.merge(&profile.without_threads());
    let mut outcomes = vec![
        json::write(&selection, std::io::sink()),
        csv::write(&selection, std::io::sink()),
        dot::write(&selection, std::io::sink()),
    ];
    if profile.contexts().len() <= MAX_STACKS {
        outcomes.push(pprof::write(&selection, std::io::sink()));
        outcomes.push(collapsed::write(&selection, std::io::sink()));
        outcomes.push(firefox::write(&selection, std::io::sink()));
    }
    for outcome in outcomes {
        if let Err(error) = outcome {
            panic!("a view is not written: {error}");
        }
    }
}

/// The same bytes with right checksums of the header and of each whole chunk.
fn with_checksums(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    if bytes.len() < HEADER {
        return bytes;
    }
    let sum = crc32fast::hash(&bytes[..HEADER - 4]).to_le_bytes();
    bytes[HEADER - 4..HEADER].copy_from_slice(&sum);
    let mut at = HEADER;
    while let Some(&[l0, l1, l2, l3]) = bytes.get(at..at + 4) {
        let end = at + CHUNK_HEADER + u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let Some(checked) = bytes.get(at + 8..end) else {
            break;
        };
        let sum = crc32fast::hash(checked).to_le_bytes();
        bytes[at + 4..at + 8].copy_from_slice(&sum);
        at = end;
    }
    bytes
}
