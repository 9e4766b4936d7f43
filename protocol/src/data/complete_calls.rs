//! The counts of a complete call graph: files that outlive the JVM.
//!
//! ```text
//!   DIR/<pid>                 data directory of the JVM
//!   DIR/<pid>-complete-calls  counters.bin   256 shards of SLOTS counters of 8 bytes
//!                             receivers.bin  PAIRS entries of 16 bytes: call and class, counter
//!                             classes        one counted class per line, as JSON
//!                             receivers      one class of receivers per line, as JSON
//! ```
//!
//! The value of a counter is its sum over all shards. An entry of `receivers.bin` is the offset of a
//! call's counter in a shard and the number of a class in the upper and lower half of a word, and the
//! offset of the counter of the calls on objects of this class. A JVM that is killed leaves at most an
//! incomplete last line in each list.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::beside::{directories_with, path_beside, read_lines};
use super::layout::COUNTERS_FILE;

/// The end of the name of a directory with the counts of a complete call graph.
const SUFFIX: &str = "-complete-calls";
/// File name of the counters of receivers.
pub const PAIRS_FILE: &str = "receivers.bin";
/// File name of the counted classes.
pub const COUNTED_CLASSES_FILE: &str = "classes";
/// File name of the classes of receivers.
pub const RECEIVERS_FILE: &str = "receivers";

/// Number of shards, including the shared shard 0.
const SHARDS: u64 = 256;
/// Number of counters in a shard. Counter 0 counts the calls whose receiver cannot be told.
pub const SLOTS: u64 = 1 << 22;
/// Number of entries of `receivers.bin`.
pub const PAIRS: u64 = 1 << 19;
/// Size of an entry of `receivers.bin` in bytes.
pub const PAIR_BYTES: u64 = 16;
/// Size of a counter in bytes.
const COUNTER_BYTES: u64 = 8;

/// A class with counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedClassRecord {
    /// The class with dots.
    pub name: String,
    /// The direct superclass with dots; empty for `java.lang.Object`.
    pub superclass: String,
    /// The direct superinterfaces with dots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// The access flags of the class (JVMS table 4.1-B).
    pub access: u16,
    /// The methods that a call can run, in file order.
    pub methods: Vec<CountedMethodRecord>,
}

/// A method of a class with counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedMethodRecord {
    /// Name and descriptor: `m(I)I`.
    pub method: String,
    /// The access flags of the method (JVMS table 4.6-A).
    pub access: u16,
    /// The size of the original bytecode in bytes; 0 for a native method.
    pub size: u32,
    /// The counter of the entries; `None` if the method has no counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<u32>,
    /// The calls and allocations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<CountedSiteRecord>,
    /// Why a method with code has no counters: the code and the text of the refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<(String, String)>,
}

/// A call or an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedSiteRecord {
    /// The instruction: `invokevirtual a.B::m(I)I @4`, `new a.B @0`.
    pub what: String,
    /// The source line, if the class file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u16>,
    /// The number of the counter.
    pub counter: u32,
    /// Whether the counter counts the calls on objects of one class, so that `receivers.bin` has
    /// entries for the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_receiver: bool,
}

/// A class of receivers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverRecord {
    /// The number of the class in `receivers.bin`.
    pub number: u32,
    /// The class as in a field descriptor: `La/B;`, `[I`.
    pub class: String,
    /// All supertypes with dots, if the class is hidden, or if not all classes are counted. Otherwise the
    /// class and its superclasses have a [`CountedClassRecord`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supertypes: Vec<String>,
    /// Name and descriptor of each method of a hidden class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
}

/// The calls at one site on objects of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverPair {
    /// The counter of the site.
    pub site: u32,
    /// The number of the class.
    pub class: u32,
    /// The counter of these calls.
    pub counter: u32,
}

/// The counts of a complete call graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompleteCalls {
    /// The classes in the order in which they were loaded. A class that was loaded or retransformed
    /// several times occurs several times, with other counters.
    pub classes: Vec<CountedClassRecord>,
    /// The classes of receivers.
    pub receivers: Vec<ReceiverRecord>,
    /// The calls by class of receivers.
    pub pairs: Vec<ReceiverPair>,
    /// The values of the counters, by number.
    pub counts: Vec<u64>,
    /// The number of lines that are no record.
    pub damaged_lines: usize,
}

/// The directory with the counts of the JVM whose data directory is `own`.
pub fn complete_calls_path(own: &Path) -> PathBuf {
    path_beside(own, SUFFIX)
}

/// The data directories below `root` whose JVMs have counted complete call graphs, sorted by name. The
/// directories themselves may be removed already.
pub fn directories_with_complete_calls(root: &Path) -> Vec<PathBuf> {
    directories_with(root, SUFFIX)
}

/// Reads the counts in a directory of [`complete_calls_path`].
///
/// # Errors
/// A file cannot be read.
pub fn read_complete_calls(directory: &Path) -> io::Result<CompleteCalls> {
    let (classes, damaged_classes) = read_lines(&directory.join(COUNTED_CLASSES_FILE))?;
    let (receivers, damaged_receivers) = read_lines(&directory.join(RECEIVERS_FILE))?;
    let mut found = CompleteCalls {
        classes,
        receivers,
        damaged_lines: damaged_classes + damaged_receivers,
        ..CompleteCalls::default()
    };
    found.pairs = read_pairs(&directory.join(PAIRS_FILE))?;
    let sites = found.classes.iter().flat_map(|class| &class.methods);
    let sites = sites.flat_map(|method| {
        let sites = method.sites.iter().map(|site| site.counter);
        sites.chain(method.entry)
    });
    let pairs = found.pairs.iter().map(|pair| pair.counter);
    let last = sites.chain(pairs).max().unwrap_or(0);
    let used = (u64::from(last) + 1).min(SLOTS);
    found.counts = read_counts(&directory.join(COUNTERS_FILE), used)?;
    Ok(found)
}

/// The entries of `receivers.bin` that are in use.
fn read_pairs(path: &Path) -> io::Result<Vec<ReceiverPair>> {
    let bytes = fs::read(path)?;
    let words = |entry: &[u8]| {
        let word = |at: usize| {
            entry
                .get(at..at + 8)?
                .try_into()
                .ok()
                .map(u64::from_le_bytes)
        };
        Some((word(0)?, word(8)?))
    };
    let entries = bytes.chunks_exact(PAIR_BYTES as usize).filter_map(words);
    let entries = entries.filter(|(key, _)| *key != 0);
    Ok(entries
        .map(|(key, offset)| ReceiverPair {
            site: (key >> 32) as u32 / COUNTER_BYTES as u32,
            class: key as u32,
            counter: (offset / COUNTER_BYTES) as u32,
        })
        .collect())
}

/// The sums of the first `used` counters over all shards.
fn read_counts(path: &Path, used: u64) -> io::Result<Vec<u64>> {
    let file = File::open(path)?;
    let mut counts = vec![0u64; used as usize];
    let mut bytes = vec![0; (used * COUNTER_BYTES) as usize];
    for shard in 0..SHARDS {
        let from = shard * SLOTS * COUNTER_BYTES;
        // A shard that no thread has used is a hole in the file.
        if !has_data(&file, from, bytes.len() as u64) {
            continue;
        }
        file.read_exact_at(&mut bytes, from)?;
        for (count, word) in counts.iter_mut().zip(bytes.chunks_exact(8)) {
            let word = word.try_into().map_or(0, u64::from_le_bytes);
            *count = count.wrapping_add(word);
        }
    }
    Ok(counts)
}

/// Whether a range of a file may have other bytes than zeros.
fn has_data(file: &File, from: u64, length: u64) -> bool {
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(from)) {
        Ok(found) => found < from + length,
        // There is no data behind `from`, or the file system does not know.
        Err(error) => error != rustix::io::Errno::NXIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_sums_and_lines_that_were_cut_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let place = complete_calls_path(&directory.path().join("4711"));
        fs::create_dir(&place).unwrap();
        let class = CountedClassRecord {
            name: "a.B".into(),
            superclass: "java.lang.Object".into(),
            methods: vec![CountedMethodRecord {
                method: "m()V".into(),
                size: 9,
                entry: Some(1),
                sites: vec![CountedSiteRecord {
                    what: "invokevirtual a.C::n()V @4".into(),
                    line: Some(7),
                    counter: 2,
                    by_receiver: true,
                }],
                ..CountedMethodRecord::default()
            }],
            ..CountedClassRecord::default()
        };
        let line = serde_json::to_string(&class).unwrap();
        fs::write(place.join(COUNTED_CLASSES_FILE), format!("{line}\n{{\"na")).unwrap();
        let receiver = ReceiverRecord {
            number: 77,
            class: "La/C;".into(),
            ..ReceiverRecord::default()
        };
        let line = serde_json::to_string(&receiver).unwrap();
        fs::write(place.join(RECEIVERS_FILE), line + "\n").unwrap();
        let mut pairs = vec![0u8; 48];
        pairs[16..24].copy_from_slice(&((16u64 << 32) | 77).to_le_bytes());
        pairs[24..32].copy_from_slice(&24u64.to_le_bytes());
        fs::write(place.join(PAIRS_FILE), pairs).unwrap();
        let counters = File::create(place.join(COUNTERS_FILE)).unwrap();
        counters.set_len(SHARDS * SLOTS * 8).unwrap();
        for (shard, slot, value) in [(0, 1, 5u64), (3, 1, 2), (255, 3, 9)] {
            let at = shard * SLOTS * 8 + slot * 8;
            counters.write_all_at(&value.to_le_bytes(), at).unwrap();
        }
        let found = read_complete_calls(&place).unwrap();
        assert_eq!(found.classes, [class]);
        assert_eq!(found.receivers, [receiver]);
        assert_eq!(found.damaged_lines, 1);
        let pair = ReceiverPair {
            site: 2,
            class: 77,
            counter: 3,
        };
        assert_eq!(found.pairs, [pair]);
        assert_eq!(found.counts, [0, 7, 0, 9]);
        assert_eq!(
            directories_with_complete_calls(directory.path()),
            [directory.path().join("4711")]
        );
    }
}
