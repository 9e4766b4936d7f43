//! The words of an entry, and the state of the caches of a thread.

use thiserror::Error;

use crate::description::{CacheDescription, Geometry, Level, Rules, WritePolicy};

/// The most descriptions that one recording simulates.
pub const MAX_DESCRIPTIONS: usize = 4;
/// The words of an entry before its counts of caches.
const HEAD_WORDS: u64 = 6;

/// Why accesses of a JVM cannot be simulated with a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// There are more than [`MAX_DESCRIPTIONS`] descriptions.
    #[error("a recording simulates at most {MAX_DESCRIPTIONS} descriptions of caches")]
    TooMany,
    /// The description has a cache for instructions.
    #[error("a recording of a JVM has no instruction fetches; leave L1I out")]
    Instructions,
    /// The description has the rules of Cachegrind.
    #[error("rules:cachegrind is for traces of native programs; leave the rules out")]
    Cachegrind,
}

/// One cache or TLB, as the Java code that simulates it needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheRow {
    /// Number of sets, ways, and bytes of a line.
    pub geometry: Geometry,
    /// Whether a write makes the line dirty, and does not go to the next level.
    pub writes_back: bool,
    /// Whether a write that misses allocates a line.
    pub write_allocates: bool,
    /// Position of the first slot in the state of the thread, in words. A slot has a line number plus
    /// 1, shifted by one bit, and the bit of a dirty line. A slot of an empty line is 0.
    pub first_slot: u64,
    /// Position of the counted lookups in an entry, in words. The misses follow. The lookups of L1 and
    /// of the first TLB are not counted, because they are the accesses.
    pub counts: u64,
}

/// The memory of a thread whose accesses are recorded, for some descriptions of caches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLayout {
    /// For each description the caches for data from L1 on, and the TLBs.
    pub descriptions: Vec<(Vec<CacheRow>, Vec<CacheRow>)>,
    /// Words of the state of all caches.
    pub state_words: u64,
    /// Words of an entry, a power of two.
    pub entry_words: u64,
    /// Words of the counts of a cache in an entry: lookups and misses; in a sampled recording also the
    /// window of the latest lookup, lookups and misses in it, and four sums over earlier windows.
    pub count_words: u64,
}

impl TableLayout {
    /// The layout for these descriptions, for a sampled recording or one of all accesses. Without a description, accesses are only counted.
    ///
    /// # Errors
    /// One of the descriptions cannot be simulated in a JVM.
    pub fn new(
        descriptions: &[CacheDescription],
        is_sampled: bool,
    ) -> Result<TableLayout, LayoutError> {
        if descriptions.len() > MAX_DESCRIPTIONS {
            return Err(LayoutError::TooMany);
        }
        let mut layout = TableLayout {
            descriptions: Vec::new(),
            state_words: 0,
            entry_words: HEAD_WORDS,
            count_words: if is_sampled { 9 } else { 2 },
        };
        for description in descriptions {
            if description.instructions.is_some() {
                return Err(LayoutError::Instructions);
            }
            if description.rules == Rules::Cachegrind {
                return Err(LayoutError::Cachegrind);
            }
            let levels = description.levels.iter();
            let levels = levels.map(|level| layout.row(level)).collect();
            let tlbs = description.tlbs.iter().map(|tlb| {
                layout.row(&Level {
                    geometry: *tlb,
                    write: WritePolicy::Back,
                    write_allocate: true,
                })
            });
            let tlbs = tlbs.collect();
            layout.descriptions.push((levels, tlbs));
        }
        layout.entry_words = layout.entry_words.next_power_of_two();
        Ok(layout)
    }

    fn row(&mut self, level: &Level) -> CacheRow {
        let row = CacheRow {
            geometry: level.geometry,
            writes_back: level.write == WritePolicy::Back,
            write_allocates: level.write_allocate,
            first_slot: self.state_words,
            counts: self.entry_words,
        };
        self.state_words += level.geometry.lines();
        self.entry_words += self.count_words;
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::parse;

    fn layout(texts: &[&str]) -> Result<TableLayout, LayoutError> {
        let parsed = texts.iter().map(|text| parse(text).expect("a description"));
        TableLayout::new(&parsed.collect::<Vec<_>>(), false)
    }

    #[test]
    fn caches_follow_each_other_in_the_state_and_in_an_entry() {
        let both = layout(&["L1:1K/2/64,L2:4K/4/64/wt/na,TLB:8/full/4K", "L1:2K/2/64"]);
        let both = both.expect("a layout");
        let rows = both.descriptions.iter();
        let rows: Vec<&CacheRow> = rows.flat_map(|(a, b)| a.iter().chain(b)).collect();
        let slots: Vec<u64> = rows.iter().map(|row| row.first_slot).collect();
        assert_eq!(slots, [0, 16, 16 + 64, 16 + 64 + 8]);
        let counts: Vec<u64> = rows.iter().map(|row| row.counts).collect();
        assert_eq!(counts, [6, 8, 10, 12]);
        assert_eq!((both.entry_words, both.state_words), (16, 16 + 64 + 8 + 32));
        assert!(!rows[1].writes_back && !rows[1].write_allocates);
        let parsed = parse("L1:1K/2/64,L2:4K/4/64").expect("a description");
        let sampled = TableLayout::new(&[parsed], true).expect("a layout");
        let counts: Vec<u64> = sampled.descriptions[0]
            .0
            .iter()
            .map(|row| row.counts)
            .collect();
        assert_eq!((counts, sampled.entry_words), (vec![6, 15], 32));
    }

    #[test]
    fn instructions_and_rules_of_native_programs_are_refused() {
        let refused = |text| layout(&[text]).err();
        assert_eq!(refused("L1:1K/2/64"), None);
        let with_fetches = refused("L1:1K/2/64,L1I:1K/2/64");
        assert_eq!(with_fetches, Some(LayoutError::Instructions));
        let cachegrind = refused("L1:1K/2/64,rules:cachegrind");
        assert_eq!(cachegrind, Some(LayoutError::Cachegrind));
        assert_eq!(layout(&["L1:1K/2/64"; 5]), Err(LayoutError::TooMany));
        assert_eq!(layout(&[]).map(|l| l.entry_words), Ok(8));
    }
}
