//! The file with the table of one thread.
//!
//! ```text
//!   file   = "VNRACC\r\n"  version: 4 bytes  words of an entry: 4 bytes  words of counts  windows  collections
//!            lost  entries  { entry }
//!   entry  = site  class and offset  type and access  accesses  objects (or origin)  bytes  { counts }
//!   counts = lookups  misses  [ window  lookups in it  misses in it  sums over earlier windows: lookups²
//!            lookups · misses  misses²  1 ]
//! ```
//!
//! All numbers are little-endian and have 8 bytes unless stated.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use thiserror::Error;

use super::layout::TableLayout;
use crate::window_sample::WindowSums;

const MAGIC: [u8; 8] = *b"VNRACC\r\n";
const VERSION: u32 = 3;
/// The words of an entry before its counts of caches.
const HEAD_WORDS: u32 = 6;
/// The most words of an entry, which a reader accepts.
const MAX_ENTRY_WORDS: u32 = 1 << 10;
/// The most words of the counts of a cache, which a reader accepts. A sample without caches has entries that
/// are shorter.
const MAX_COUNT_WORDS: u64 = 64;
/// The most entries of a table, which a reader accepts.
const MAX_ENTRIES: u64 = 1 << 24;
/// The end of the name of a file: `thread-7.accesses`.
pub const ACCESSES_SUFFIX: &str = ".accesses";

/// The bit of an access that writes.
const IS_WRITE: u64 = 1;
/// The bit of an allocation.
const IS_ALLOCATION: u64 = 2;
/// The bit of two sites that share lines.
const IS_SHARING: u64 = 32;
/// The bit of the site of such an entry.
const SHARING_SITE: u64 = 1 << 63;
/// The bit of the primary class of a site.
const IS_PRIMARY: u64 = 16;
/// The bit of an access that is counted by the origin of the object.
const BY_ORIGIN: u64 = 128;
const BYTES_SHIFT: u32 = 8;
/// The origin of an object that another thread has locked.
pub const LOCKED_ORIGIN: u32 = 1;

/// The name of the file of a thread.
pub fn accesses_file(thread: u32) -> String {
    format!("thread-{thread}{ACCESSES_SUFFIX}")
}

/// Why a file has no table.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is no table, or one of another version.
    #[error("this is no table of accesses of version {VERSION}")]
    Foreign,
}

/// The numbers of a table that belong to no entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableTotals {
    /// How often the caches were emptied, because a collection had moved objects.
    pub collections: u64,
    /// Accesses whose site found no room for an entry. Their last entry has no site.
    pub lost: u64,
    /// The windows of a sampled recording; 0 if each access is recorded.
    pub windows: u64,
}

/// The lookups of a cache or TLB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryCount {
    /// Number of lookups.
    pub lookups: u64,
    /// Number of lookups that missed.
    pub misses: u64,
    /// The sums over the windows of a sampled recording.
    pub sums: WindowSums,
}

impl EntryCount {
    fn of_words(words: &[u64]) -> EntryCount {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let mut sums = WindowSums {
            lookups_squared: word(5),
            products: word(6),
            misses_squared: word(7),
            windows: word(8),
        };
        sums.add(word(3), word(4));
        EntryCount {
            lookups: word(0),
            misses: word(1),
            sums,
        }
    }
}

/// The accesses of one site to objects of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessEntry {
    /// The number of the instruction (`veneer_names::site_id`); 0 for accesses without an entry.
    pub site: u64,
    /// If another thread had written to the lines of the accesses: the number of the instruction that
    /// wrote. `accesses` is then the number of those to written bytes, and `object_bytes` that of the
    /// others.
    pub written_at: Option<u64>,
    /// The number of the type's name.
    pub type_id: u32,
    /// Whether the instruction writes.
    pub is_write: bool,
    /// Whether the instruction allocates. Its accesses are the writes of each line of the new objects.
    pub is_allocation: bool,
    /// Whether the class is the primary one of the site: that of the first accessed object.
    pub is_primary: bool,
    /// Bytes of an access.
    pub bytes: u32,
    /// Number of accesses. If the class is the primary one, accesses to the line that was used last in its
    /// set of L1 are not among them: a counter of the site counts the accesses of all classes.
    pub accesses: u64,
    /// Number of allocated objects.
    pub objects: u64,
    /// Bytes of allocated objects.
    pub object_bytes: u64,
    /// The number of the instruction that allocated the accessed objects: that of this one, if it allocates.
    /// 0 is none of the recording, [`LOCKED_ORIGIN`] that of objects which another thread had locked.
    pub origin: u32,
    /// Lookups and misses of each cache and TLB, in the order of the layout.
    pub counts: Vec<EntryCount>,
}

impl AccessEntry {
    /// The entry in these words.
    fn of_words(words: &[u64], count_words: usize) -> AccessEntry {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let access = word(2) >> 32;
        let is_allocation = access & IS_ALLOCATION != 0;
        let above = (access >> BYTES_SHIFT) as u32;
        let (bytes, objects, origin) = match (access & BY_ORIGIN != 0, is_allocation) {
            (false, _) => (above, word(4), 0),
            (true, true) => (0, word(4), above),
            (true, false) => (above, 0, word(4) as u32),
        };
        AccessEntry {
            site: word(0) & !SHARING_SITE,
            written_at: (access & IS_SHARING != 0).then(|| word(4)),
            type_id: word(2) as u32,
            is_write: access & IS_WRITE != 0,
            is_allocation,
            is_primary: access & IS_PRIMARY != 0,
            bytes,
            accesses: word(3),
            objects,
            origin,
            object_bytes: word(5),
            counts: words
                .get(6..)
                .unwrap_or(&[])
                .chunks_exact(count_words.max(2))
                .map(EntryCount::of_words)
                .collect(),
        }
    }
}

/// The accesses of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessTable {
    /// The numbers that belong to no entry.
    pub totals: TableTotals,
    /// The entries, in no order.
    pub entries: Vec<AccessEntry>,
}

impl AccessTable {
    /// Writes the table of a thread whose entries are these words, in a layout.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write<'e>(
        path: &Path,
        totals: TableTotals,
        layout: &TableLayout,
        entries: impl Iterator<Item = &'e [u64]>,
    ) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&(layout.entry_words as u32).to_le_bytes())?;
        let entries: Vec<&[u64]> = entries.collect();
        let head = [
            layout.count_words,
            totals.windows,
            totals.collections,
            totals.lost,
            entries.len() as u64,
        ];
        for number in head {
            out.write_all(&number.to_le_bytes())?;
        }
        for word in entries.into_iter().flatten() {
            out.write_all(&word.to_le_bytes())?;
        }
        out.flush()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, ends early or has another format.
    pub fn read(path: &Path) -> Result<AccessTable, TableError> {
        AccessTable::parse(BufReader::new(File::open(path)?))
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// As for [`AccessTable::read`].
    pub fn parse(mut from: impl Read) -> Result<AccessTable, TableError> {
        let mut head = [0; 16];
        from.read_exact(&mut head)?;
        let [version, entry_words] = [8, 12].map(|at| half_word(&head, at));
        let has_known_form = head.starts_with(&MAGIC) && version == VERSION;
        if !has_known_form || !(HEAD_WORDS..=MAX_ENTRY_WORDS).contains(&entry_words) {
            return Err(TableError::Foreign);
        }
        let [count_words, windows, collections, lost, count] = [(); 5].map(|()| word(&mut from));
        let (count_words, count) = (count_words?, count?);
        if count > MAX_ENTRIES || count_words > MAX_COUNT_WORDS {
            return Err(TableError::Foreign);
        }
        let mut table = AccessTable {
            totals: TableTotals {
                collections: collections?,
                lost: lost?,
                windows: windows?,
            },
            entries: Vec::new(),
        };
        for _ in 0..count {
            let words = (0..entry_words).map(|_| word(&mut from));
            let words = words.collect::<io::Result<Vec<u64>>>()?;
            table
                .entries
                .push(AccessEntry::of_words(&words, count_words as usize));
        }
        Ok(table)
    }
}

fn half_word(bytes: &[u8; 16], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

fn word(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(entry_words: u64, count_words: u64) -> TableLayout {
        TableLayout {
            descriptions: Vec::new(),
            state_words: 0,
            entry_words,
            count_words,
        }
    }

    fn written(entries: &[[u64; 8]]) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(accesses_file(7));
        let totals = TableTotals {
            collections: 3,
            lost: 2,
            windows: 0,
        };
        let words = entries.iter().map(|entry| &entry[..]);
        AccessTable::write(&path, totals, &layout(8, 2), words).expect("a file");
        let read = AccessTable::read(&path).expect("a table");
        assert_eq!(read.totals, totals);
        std::fs::read(&path).expect("the bytes")
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let read = (4u64 << 8 | 1) << 32 | 9;
        let bytes = written(&[
            [77, 5, read, 100, 0, 0, 100, 12],
            [78, 5, 2 << 32, 4, 2, 256, 0, 0],
        ]);
        let table = AccessTable::parse(&bytes[..]).expect("a table");
        let [access, allocation] = &table.entries[..] else {
            panic!("{table:?}");
        };
        assert!(access.is_write && !access.is_allocation && allocation.is_allocation);
        assert_eq!((access.site, access.type_id, access.bytes), (77, 9, 4));
        assert_eq!(
            (
                access.accesses,
                access.counts[0].lookups,
                access.counts[0].misses
            ),
            (100, 100, 12)
        );
        assert_eq!((allocation.objects, allocation.object_bytes), (2, 256));
    }

    #[test]
    fn an_entry_has_the_origin_of_its_objects() {
        let bytes = written(&[
            [77, 5, (300 << 8 | 128 | 2) << 32 | 9, 3, 3, 48, 0, 0],
            [78, 5, (4 << 8 | 128) << 32 | 9, 10, 300, 0, 0, 0],
        ]);
        let table = AccessTable::parse(&bytes[..]).expect("a table");
        let [allocation, access] = &table.entries[..] else {
            panic!("{table:?}");
        };
        assert_eq!((allocation.origin, allocation.objects), (300, 3));
        assert_eq!((access.origin, access.objects, access.bytes), (300, 0, 4));
    }

    #[test]
    fn the_sums_of_a_sample_contain_the_latest_window() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(accesses_file(1));
        let totals = TableTotals {
            windows: 9,
            ..TableTotals::default()
        };
        let words = [1, 0, 0, 40, 0, 0, 40, 12, 5 << 1, 10, 4, 500, 160, 64, 2, 0];
        let words = std::iter::once(&words[..]);
        AccessTable::write(&path, totals, &layout(16, 9), words).expect("a file");
        let table = AccessTable::read(&path).expect("a table");
        assert_eq!(table.totals.windows, 9);
        let expected = EntryCount {
            lookups: 40,
            misses: 12,
            sums: WindowSums {
                lookups_squared: 600,
                products: 200,
                misses_squared: 80,
                windows: 3,
            },
        };
        assert_eq!(table.entries[0].counts, [expected]);
    }

    #[test]
    fn a_sample_without_caches_has_entries_without_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(accesses_file(1));
        let words = [1, 0, 0, 40, 0, 0, 0, 0];
        let words = std::iter::once(&words[..]);
        AccessTable::write(&path, TableTotals::default(), &layout(8, 9), words).expect("a file");
        let table = AccessTable::read(&path).expect("a table");
        assert_eq!(
            (table.entries[0].accesses, table.entries[0].counts.len()),
            (40, 0)
        );
    }

    #[test]
    fn damaged_files_are_refused() {
        let bytes = written(&[[1, 0, 0, 1, 0, 0, 0, 0]]);
        for end in 0..bytes.len() {
            assert!(AccessTable::parse(&bytes[..end]).is_err(), "{end}");
        }
        for (at, value) in [
            (0, 0),
            (8, 2),
            (8, 9),
            (12, 1),
            (15, 1),
            (17, 1),
            (52, 255),
            (55, 255),
        ] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            assert!(AccessTable::parse(&bytes[..]).is_err(), "{at}");
        }
    }
}
