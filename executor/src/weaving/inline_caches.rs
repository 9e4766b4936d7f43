//! The inline caches of probes: which cells of `VeneerInlineCaches` belong to which instrument.
//!
//! Each point whose code calls `inline_cache` has a cell of its own. Cells come in pages. A page
//! belongs to one instrument, and is dropped with it. The number of a dropped page is used again only
//! after all other numbers, because compiled code may keep what the page contained.

use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use veneer_instruments::InstrumentId;

/// The binary logarithm of the number of cells in a page, as in `VeneerInlineCaches`.
const PAGE_BITS: u32 = 8;

/// The number of pages, as in `VeneerInlineCaches`.
const PAGES: u32 = 1 << 14;

/// The number of a cell in a page that never exists. Each object misses it.
const NO_CELL: i64 = 0;

/// The cells of all instruments.
#[derive(Default)]
pub struct InlineCaches(Mutex<State>);

#[derive(Default)]
struct State {
    /// The number of pages that were ever used.
    used: u32,
    /// Dropped pages, the oldest first.
    dropped: VecDeque<u32>,
    owners: HashMap<InstrumentId, Cells>,
}

/// The cells of one instrument.
#[derive(Default)]
struct Cells {
    pages: Vec<u32>,
    /// The number of cells in use.
    count: u32,
}

impl State {
    /// The number of a page that is not in use; `None` if all are.
    fn free_page(&mut self) -> Option<u32> {
        if self.used + 1 < PAGES {
            // Page 0 never exists.
            self.used += 1;
            return Some(self.used);
        }
        self.dropped.pop_front()
    }
}

impl InlineCaches {
    /// A new cell for an instrument. `add` makes a page, and returns whether that succeeded. If there
    /// is no room, the result is a cell that each object misses.
    pub fn cell(&self, instrument: InstrumentId, add: impl FnOnce(u32) -> bool) -> i64 {
        let mut state = self.0.lock();
        let used = state.owners.get(&instrument).map_or(0, |cells| cells.count);
        if used.trailing_zeros() >= PAGE_BITS {
            let Some(page) = state.free_page() else {
                return NO_CELL;
            };
            if !add(page) {
                state.dropped.push_back(page);
                return NO_CELL;
            }
            state.owners.entry(instrument).or_default().pages.push(page);
        }
        let cells = state.owners.entry(instrument).or_default();
        let Some(page) = cells.pages.last() else {
            return NO_CELL;
        };
        let cell = i64::from(page << PAGE_BITS | cells.count & ((1 << PAGE_BITS) - 1));
        cells.count += 1;
        cell
    }

    /// Drops the cells of an instrument whose code does not run any more.
    pub fn drop_cells(&self, instrument: InstrumentId, remove: impl Fn(u32)) {
        let mut state = self.0.lock();
        if let Some(cells) = state.owners.remove(&instrument) {
            cells.pages.iter().for_each(|page| remove(*page));
            state.dropped.extend(cells.pages);
        }
    }

    /// Forgets all cells, because the agent unloads.
    pub fn forget(&self) {
        let mut state = self.0.lock();
        let owners = std::mem::take(&mut state.owners);
        let pages = owners.into_values().flat_map(|cells| cells.pages);
        let mut pages: Vec<u32> = pages.collect();
        pages.sort_unstable();
        state.dropped.extend(pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(caches: &InlineCaches, instrument: u32, count: usize) -> Vec<i64> {
        let cell = |_| caches.cell(InstrumentId(instrument), |_| true);
        (0..count).map(cell).collect()
    }

    #[test]
    fn each_cell_is_another_one_and_pages_belong_to_one_instrument() {
        let caches = InlineCaches::default();
        let mut all = cells(&caches, 1, 300);
        all.extend(cells(&caches, 2, 1));
        all.extend(cells(&caches, 1, 300));
        let page = |cell: &i64| *cell >> PAGE_BITS;
        assert_eq!(page(&all[0]), 1);
        assert_eq!(page(&all[256]), 2);
        assert_eq!(page(&all[300]), 3, "the page of the second instrument");
        assert!(all[301..].iter().all(|cell| [2, 4].contains(&page(cell))));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn a_dropped_page_is_used_again_after_all_others() {
        let caches = InlineCaches::default();
        cells(&caches, 1, 1);
        let removed = std::cell::RefCell::new(Vec::new());
        caches.drop_cells(InstrumentId(1), |page| removed.borrow_mut().push(page));
        assert_eq!(removed.take(), [1]);
        for instrument in 2..PAGES {
            assert_eq!(
                cells(&caches, instrument, 1),
                [i64::from(instrument) << PAGE_BITS]
            );
        }
        assert_eq!(
            cells(&caches, PAGES, 2),
            [1 << PAGE_BITS, 1 << PAGE_BITS | 1]
        );
        assert_eq!(cells(&caches, PAGES + 1, 1), [NO_CELL]);
        caches.forget();
        assert_eq!(cells(&caches, PAGES + 1, 1), [1 << PAGE_BITS]);
    }

    #[test]
    fn a_page_that_cannot_be_made_has_no_cells() {
        let caches = InlineCaches::default();
        assert_eq!(caches.cell(InstrumentId(1), |_| false), NO_CELL);
        assert_eq!(cells(&caches, 1, 1), [2 << PAGE_BITS]);
    }
}
