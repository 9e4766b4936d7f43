//! The table of accesses of a thread, with the recording to which it belongs.

use crate::data::recorder::curve_track::CurveTrack;
use crate::data::recorder::recorded_caches::{RecordedCaches, TABLE_ENTRIES};
use crate::jvm::runtime_table;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use veneer_memory::accesses::{AccessTable, TableTotals, accesses_file, curve_file, write_curves};

/// The table of a thread and the state of its caches.
pub(super) struct AccessTrack {
    /// The number of the thread in the recording.
    thread: u32,
    /// The number of the recording.
    pub(super) recording: u32,
    pub(super) caches: Arc<RecordedCaches>,
    pub(super) table: Box<[AtomicI64]>,
    pub(super) state: Box<[AtomicI64]>,
    /// The miss-ratio curves, if they are recorded.
    pub(super) curve: Option<CurveTrack>,
}

impl AccessTrack {
    pub(super) fn new(thread: u32, recording: u32, caches: Arc<RecordedCaches>) -> AccessTrack {
        // Two more entries: for the accesses that find no room, and for those that are not counted.
        let table = caches.layout.entry_words * (TABLE_ENTRIES + 2);
        AccessTrack {
            thread,
            recording,
            table: zeros(table),
            state: zeros(caches.layout.state_words.max(1)),
            curve: match caches.curve_shifts() {
                [] => None,
                shifts => Some(CurveTrack::new(shifts)),
            },
            caches,
        }
    }

    /// Writes the table and the curves to their files in a directory.
    pub(super) fn write(&mut self, directory: &Path, totals: TableTotals) -> std::io::Result<()> {
        if let Some(curve) = &mut self.curve {
            write_curves(&directory.join(curve_file(self.thread)), &curve.curves())?;
        }
        let words = self.table.iter();
        let words: Vec<u64> = words.map(|w| w.load(Ordering::Relaxed) as u64).collect();
        let entry_words = self.caches.layout.entry_words as usize;
        let accesses = runtime_table::ENTRY_ACCESSES as usize / 8;
        let entries = words
            .chunks_exact(entry_words)
            .take(TABLE_ENTRIES as usize + 1);
        let used = entries.filter(|entry| entry[accesses] != 0);
        let path = directory.join(accesses_file(self.thread));
        AccessTable::write(&path, totals, &self.caches.layout, used)
    }
}

/// Words of memory that the kernel provides at the first store.
fn zeros(words: u64) -> Box<[AtomicI64]> {
    let zeros = vec![0i64; words as usize].into_boxed_slice();
    // SAFETY: an atomic word has the size, the alignment and the values of a word.
    unsafe { Box::from_raw(Box::into_raw(zeros) as *mut [AtomicI64]) }
}
