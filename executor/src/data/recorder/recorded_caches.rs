//! The caches of a recording of memory accesses.

use crate::data::access_form::{AccessForm, L1Form};
use crate::data::memory::WordTable;
use crate::jvm::runtime_table;
use veneer_memory::accesses::{CacheRow, LayoutError, MAX_CURVES, TableLayout};
use veneer_memory::{CacheDescription, DescriptionError, WritePolicy, parse_description};
use veneer_names::CounterSlot;

const CACHE_WORDS: usize = runtime_table::CACHE_BYTES as usize / 8;
const HEAD_WORDS: usize = runtime_table::CACHES_HEAD as usize / 8;
const DESCRIPTION_WORDS: usize = runtime_table::CACHES_DESCRIPTION as usize / 8;
const FIRST_TLB: usize = runtime_table::CACHES_FIRST_TLB as usize / 8;

/// Number of pairs of a site and a class for which a table has room. The kernel provides a page of the
/// table when the thread first writes to it.
pub(super) const TABLE_ENTRIES: u64 = 1 << 17;
/// The caches of a recording, as `VeneerMemory` reads them.
pub struct RecordedCaches {
    pub(super) layout: TableLayout,
    words: WordTable,
    /// The first counter of the slots of L1, and their number.
    l1: Option<(CounterSlot, u32)>,
    /// Whether lines that threads share are recorded.
    shares: bool,
    /// Whether only accesses in windows are recorded.
    is_sampled: bool,
    /// Whether accesses are also counted by the instruction that allocated the object.
    has_origins: bool,
    /// The binary logarithms of the lengths of lines whose miss-ratio curves are recorded.
    curve_shifts: Vec<u32>,
}

/// The addresses of words that Java code reads during a recording, and the form of its accesses.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordedWords {
    /// The number of collections.
    pub collections: i64,
    /// The lines that threads share; 0 if they are not recorded.
    pub shared_lines: i64,
    /// The state of the windows; 0 if each access is recorded.
    pub window: i64,
    /// Whether accesses are also counted by the instruction that allocated the object.
    pub has_origins: bool,
    /// Whether miss-ratio curves are recorded.
    pub has_curve: bool,
}

/// The length of lines of a curve without caches, as a binary logarithm.
const DEFAULT_CURVE_SHIFT: u32 = 6;

/// The most lines of an L1 that is in the counter shards.
const MAX_L1_LINES: u64 = 4096;

/// The line that asks for the lines that threads share.
const SHARING: &str = "sharing";
/// The line that asks for a sample.
const SAMPLE: &str = "sample";
/// The line that asks for the allocation sites of accessed objects.
const OBJECTS: &str = "objects";
/// The line that asks for miss-ratio curves.
const CURVE: &str = "curve";

/// The caches that these lines describe.
///
/// # Errors
/// A line describes no caches.
pub fn parse_caches(lines: &[String]) -> Result<Vec<CacheDescription>, DescriptionError> {
    let caches = lines
        .iter()
        .filter(|line| !matches!(line.as_str(), SHARING | SAMPLE | OBJECTS | CURVE));
    caches.map(|line| parse_description(line)).collect()
}

/// Whether one of the lines asks for the lines that threads share.
pub fn has_sharing(lines: &[String]) -> bool {
    lines.iter().any(|line| line == SHARING)
}

/// Whether one of the lines asks for a sample.
pub fn has_sample(lines: &[String]) -> bool {
    lines.iter().any(|line| line == SAMPLE)
}

/// Whether one of the lines asks for the allocation sites of accessed objects.
pub fn has_objects(lines: &[String]) -> bool {
    lines.iter().any(|line| line == OBJECTS)
}

/// Whether one of the lines asks for miss-ratio curves.
pub fn has_curve(lines: &[String]) -> bool {
    lines.iter().any(|line| line == CURVE)
}

/// The lengths of the lines of all levels, as binary logarithms, each once.
fn curve_shifts(layout: &TableLayout) -> Vec<u32> {
    let levels = layout.descriptions.iter().flat_map(|(levels, _)| levels);
    let mut shifts: Vec<u32> = levels.map(|level| level.geometry.line_shift()).collect();
    if shifts.is_empty() {
        shifts.push(DEFAULT_CURVE_SHIFT);
    }
    shifts.sort_unstable();
    shifts.dedup();
    shifts.truncate(MAX_CURVES);
    shifts
}

/// The number of lines of L1, if its slots can be in the counter shards: there is one description, without
/// TLB, and L1 writes back, allocates, has a power of two of sets and is small.
pub fn l1_lines(descriptions: &[CacheDescription]) -> Option<u32> {
    let [only] = descriptions else {
        return None;
    };
    let l1 = only.levels.first()?;
    let (sets, lines) = (l1.geometry.sets, l1.geometry.lines());
    let is_plain = l1.write == WritePolicy::Back && l1.write_allocate;
    let is_small = lines <= MAX_L1_LINES && sets.is_power_of_two();
    (only.tlbs.is_empty() && is_plain && is_small).then_some(lines as u32)
}

impl RecordedCaches {
    /// The caches of these descriptions. `l1` is the first one of [`l1_lines`] counters.
    ///
    /// # Errors
    /// One of them cannot be simulated in a JVM.
    pub fn new(
        descriptions: &[CacheDescription],
        l1: Option<CounterSlot>,
        recorded: RecordedWords,
    ) -> Result<RecordedCaches, LayoutError> {
        let is_sampled = recorded.window != 0;
        let layout = TableLayout::new(descriptions, is_sampled)?;
        let count = descriptions.len();
        let words = WordTable::new(HEAD_WORDS + DESCRIPTION_WORDS * count.max(1));
        let head = [
            (runtime_table::CACHES_TABLE_MASK, TABLE_ENTRIES as i64 - 1),
            (
                runtime_table::CACHES_STATE_BYTES,
                layout.state_words as i64 * 8,
            ),
            (runtime_table::CACHES_COUNT, count as i64),
            (runtime_table::CACHES_COLLECTIONS, recorded.collections),
            (runtime_table::CACHES_LINES, recorded.shared_lines),
            (runtime_table::CACHES_WINDOW, recorded.window),
            (
                runtime_table::CACHES_L1_SLOTS,
                l1.map_or(0, |slot| slot.byte_offset() as i64),
            ),
        ];
        for (offset, value) in head {
            words.set(offset as usize / 8, value);
        }
        for (index, (levels, tlbs)) in layout.descriptions.iter().enumerate() {
            let first = HEAD_WORDS + index * DESCRIPTION_WORDS;
            for (n, row) in levels.iter().enumerate() {
                set_row(&words, first + n * CACHE_WORDS, row, is_sampled);
            }
            for (n, row) in tlbs.iter().enumerate() {
                set_row(&words, first + FIRST_TLB + n * CACHE_WORDS, row, is_sampled);
            }
            let counts = [
                (runtime_table::CACHES_LEVELS, levels.len()),
                (runtime_table::CACHES_TLBS, tlbs.len()),
            ];
            for (offset, value) in counts {
                words.set(first + offset as usize / 8, value as i64);
            }
        }
        let l1 = l1.zip(l1_lines(descriptions));
        let curve_shifts = match recorded.has_curve {
            true => curve_shifts(&layout),
            false => Vec::new(),
        };
        Ok(RecordedCaches {
            curve_shifts,
            layout,
            words,
            l1,
            shares: recorded.shared_lines != 0,
            is_sampled,
            has_origins: recorded.has_origins,
        })
    }
}

impl RecordedCaches {
    /// The address of the description, which is never freed.
    pub(super) fn address(&self) -> i64 {
        self.words.address()
    }

    /// The binary logarithm of the bytes of an entry.
    pub(super) fn entry_shift(&self) -> u32 {
        (self.layout.entry_words * 8).trailing_zeros()
    }

    /// The counters of L1, and their number.
    pub(super) fn l1(&self) -> Option<(CounterSlot, u32)> {
        self.l1
    }

    /// The binary logarithms of the lengths of lines whose miss-ratio curves are recorded.
    pub(super) fn curve_shifts(&self) -> &[u32] {
        &self.curve_shifts
    }

    /// The form of accesses for the code of versions.
    pub(super) fn access_form(&self) -> AccessForm {
        AccessForm {
            l1: self.l1_form(),
            is_sampled: self.is_sampled,
            has_origins: self.has_origins,
        }
    }

    /// The form of L1 for the code of versions.
    fn l1_form(&self) -> L1Form {
        let levels = self.layout.descriptions.first().map(|(levels, _)| levels);
        let Some(levels) = levels else {
            let sees_each = self.shares || self.has_origins || !self.curve_shifts.is_empty();
            return match sees_each {
                true => L1Form::SLOW,
                false => L1Form::COUNTED,
            };
        };
        // In the windows of a sample each access is simulated by a call, and L1 is not in the shards.
        let (Some((slot, _)), Some(l1)) = (self.l1, levels.first()) else {
            return L1Form::SLOW;
        };
        let geometry = &l1.geometry;
        let set_bytes = u64::from(geometry.ways) * 8;
        let form = slot.byte_offset()
            | u64::from(geometry.line_shift()) << 32
            | u64::from(geometry.sets.trailing_zeros()) << 40
            | set_bytes << 48;
        L1Form(form as i64)
    }
}

/// Writes a cache at a word.
fn set_row(words: &WordTable, first: usize, row: &CacheRow, is_sampled: bool) {
    let bits = [row.writes_back, row.write_allocates, is_sampled];
    let bits = bits.iter().enumerate();
    let policy = bits.map(|(at, bit)| i64::from(*bit) << at).sum();
    let fields = [
        (
            runtime_table::CACHE_SHIFT,
            i64::from(row.geometry.line_shift()),
        ),
        (runtime_table::CACHE_SETS, row.geometry.sets as i64),
        (runtime_table::CACHE_WAYS, row.geometry.ways.into()),
        (runtime_table::CACHE_POLICY, policy),
        (runtime_table::CACHE_FIRST_SLOT, row.first_slot as i64 * 8),
        (runtime_table::CACHE_COUNTS, row.counts as i64 * 8),
    ];
    for (offset, value) in fields {
        words.set(first + offset as usize / 8, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_described_for_the_java_code() {
        let description =
            veneer_memory::parse_description("L1:1K/2/64,L2:8K/4/64/wt/na,TLB:8/2/4K");
        let caches = RecordedCaches::new(
            &[description.expect("caches")],
            None,
            RecordedWords {
                collections: 99,
                ..RecordedWords::default()
            },
        );
        let caches = caches.expect("a layout");
        let words = |first: usize, count: usize| -> Vec<i64> {
            (first..first + count)
                .map(|n| caches.words.get(n))
                .collect()
        };
        let sizes = [0, TABLE_ENTRIES as i64 - 1, (16 + 128 + 8) * 8, 1, 99, 0];
        assert_eq!(words(0, 6), sizes);
        assert_eq!(words(8, 8), [6, 8, 2, 3, 0, 48, 2, 1]);
        assert_eq!(words(16, 6), [6, 32, 4, 0, 128, 64]);
        assert_eq!(words(8 + 32, 6), [12, 4, 2, 3, 144 * 8, 80]);
    }
}
