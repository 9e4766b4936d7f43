//! The counters of a complete call graph, and what they count, in files that outlive the JVM.
//! `veneer_protocol::data::CompleteCalls` documents the files.
//!
//! Application threads call everything here: the class hook writes classes, `VeneerCalls` counts and
//! enters receivers. No thread calls the JVM while it holds a lock of this file.

use crate::data::append_file::AppendFile;
use crate::data::memory::{Mapping, WordTable};
use crate::data::shards::Shards;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use veneer_instruments::InstrumentId;
use veneer_names::CounterSlot;
use veneer_protocol::data::{
    COMPLETE_CALL_SLOTS, COUNTED_CLASSES_FILE, COUNTERS_FILE, CountedClassRecord, PAIR_BYTES,
    PAIRS, PAIRS_FILE, RECEIVERS_FILE, ReceiverRecord, complete_calls_path,
};

/// The most places at which an entry of the table of receivers can be, as in `VeneerCalls`.
const MAX_PROBES: u64 = 64;

/// The counters and their files.
pub struct CompleteCallCounts {
    /// The counters of all threads.
    pub shards: Shards,
    /// The counters of the agent's own threads, which nobody reads.
    unread: WordTable,
    /// The table from calls and receivers to counters.
    pairs: Mapping,
    /// Held while an entry is added to the table.
    adding: Mutex<()>,
    classes: Mutex<AppendFile>,
    receivers: Mutex<AppendFile>,
    /// The counted classes: the first counter and the number of counters, by name and a hash of the
    /// class file. Classes of one name and content in several loaders have the same counters.
    known: Mutex<HashMap<(String, u64), (CounterSlot, u32)>>,
    /// The instrument that counts; `None` if the configuration asks for the counts, or while nothing is
    /// counted.
    owner: Mutex<Option<InstrumentId>>,
    is_active: AtomicBool,
    /// The table of the threads' counters in `VeneerCalls`; see `Library::start_calls`.
    pub own: OnceLock<crate::jvm::jni::Global>,
}

impl CompleteCallCounts {
    /// Creates the files for the JVM whose data directory is `own`.
    pub fn create(own: &Path) -> io::Result<CompleteCallCounts> {
        let directory = complete_calls_path(own);
        DirBuilder::new().mode(0o700).create(&directory)?;
        let shards = Shards::with_slots(&directory.join(COUNTERS_FILE), COMPLETE_CALL_SLOTS)?;
        let pairs = Mapping::create(&directory.join(PAIRS_FILE), PAIRS * PAIR_BYTES)?;
        pairs.claim(0, PAIRS * PAIR_BYTES)?;
        let list = |name| AppendFile::create(&directory.join(name)).map(Mutex::new);
        let counts = CompleteCallCounts {
            shards,
            unread: WordTable::new(COMPLETE_CALL_SLOTS as usize),
            pairs,
            adding: Mutex::default(),
            classes: list(COUNTED_CLASSES_FILE)?,
            receivers: list(RECEIVERS_FILE)?,
            known: Mutex::default(),
            owner: Mutex::default(),
            is_active: AtomicBool::new(false),
            own: OnceLock::new(),
        };
        // Counter 0 has the calls whose receiver cannot be told.
        counts.shards.allocate(1);
        Ok(counts)
    }

    /// Begins to count for an instrument, or, without one, for as long as the JVM runs. Returns false if
    /// another one counts.
    pub fn activate(&self, owner: Option<InstrumentId>) -> bool {
        let mut current = self.owner.lock();
        if self.is_active.load(Ordering::SeqCst) {
            return false;
        }
        *current = owner;
        self.is_active.store(true, Ordering::SeqCst);
        true
    }

    /// Ends the counting of an instrument. Returns whether it has counted.
    pub fn deactivate(&self, owner: InstrumentId) -> bool {
        let current = self.owner.lock();
        let is_owner = *current == Some(owner) && self.is_active();
        if is_owner {
            self.is_active.store(false, Ordering::SeqCst);
        }
        is_owner
    }

    /// Ends any counting. Returns whether something was counted.
    pub fn deactivate_any(&self) -> bool {
        let _owner = self.owner.lock();
        self.is_active.swap(false, Ordering::SeqCst)
    }

    /// Whether classes that are loaded get counters.
    pub fn is_active(&self) -> bool {
        self.is_active.load(Ordering::SeqCst)
    }

    /// Whether this instrument counts, or was the last one that did.
    pub fn is_owner(&self, id: InstrumentId) -> bool {
        *self.owner.lock() == Some(id)
    }

    /// The counters of a class that was counted before with the same class file.
    pub fn known(&self, class: &str, hash: u64) -> Option<(CounterSlot, u32)> {
        self.known.lock().get(&(class.to_owned(), hash)).copied()
    }

    /// Remembers the counters of a class.
    pub fn remember(&self, class: &str, hash: u64, counters: (CounterSlot, u32)) {
        self.known.lock().insert((class.to_owned(), hash), counters);
    }

    /// The addresses of the shared counters, of counters that nobody reads, and of the table of
    /// receivers.
    pub fn addresses(&self) -> [i64; 3] {
        [self.shards.address(), self.unread(), self.pairs.address()]
    }

    /// The address of counters that nobody reads.
    pub fn unread(&self) -> i64 {
        self.unread.address()
    }

    /// Writes a class.
    pub fn add_class(&self, class: &CountedClassRecord) -> io::Result<()> {
        append(&self.classes, serde_json::to_string(class)?)
    }

    /// Writes a class of receivers.
    pub fn add_receiver(&self, record: &ReceiverRecord) {
        // A class without a name is shown as an unknown receiver.
        let line = serde_json::to_string(record);
        let _ = line.map(|line| append(&self.receivers, line));
    }

    /// The offset of the counter of a call on objects of a class; 0 if there is no room. `offset` is
    /// that of the call's counter. The complement of an offset: the counter itself counts the calls
    /// on the class.
    pub fn receiver_counter(&self, offset: i32, number: i32) -> i32 {
        if number <= 0 {
            return 0;
        }
        let (site, own) = match offset {
            0.. => (offset, None),
            _ => (!offset, Some(!offset)),
        };
        let key = i64::from(site) << 32 | i64::from(number);
        let first = (key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let _adding = self.adding.lock();
        for probe in 0..MAX_PROBES {
            let place = ((first + probe) & (PAIRS - 1)) * PAIR_BYTES;
            let (found, counter) = (self.pairs.word(place), self.pairs.word(place + 8));
            match found.load(Ordering::Acquire) {
                0 => {
                    let new = || {
                        let slot = self.shards.allocate(1)?;
                        i32::try_from(slot.byte_offset()).ok()
                    };
                    let Some(offset) = own.or_else(new) else {
                        return 0;
                    };
                    // Threads read the counter when they have found the key.
                    counter.store(i64::from(offset), Ordering::Release);
                    found.store(key, Ordering::Release);
                    return offset;
                }
                known if known == key => return counter.load(Ordering::Acquire) as i32,
                _ => {}
            }
        }
        0
    }
}

fn append(file: &Mutex<AppendFile>, line: String) -> io::Result<()> {
    file.lock().append((line + "\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use veneer_protocol::data::{ReceiverPair, read_complete_calls};

    #[test]
    fn each_pair_of_a_call_and_a_class_has_a_counter() {
        let scratch = ScratchDirectory::new();
        let own = scratch.join("4711");
        let counts = CompleteCallCounts::create(&own).expect("files");
        let site = counts.shards.allocate(1).expect("a counter");
        let offset = site.byte_offset() as i32;
        assert_eq!(counts.receiver_counter(!offset, 7), offset);
        let second = counts.receiver_counter(offset, 8);
        assert_ne!(second, offset);
        assert_eq!(counts.receiver_counter(offset, 8), second);
        assert_eq!(counts.receiver_counter(offset, 0), 0, "no class");
        counts.add_receiver(&ReceiverRecord {
            number: 8,
            class: "La/B;".into(),
            ..ReceiverRecord::default()
        });
        let thread = counts.shards.assign(5, false);
        counts.shards.add_as_java(thread, site, 4);
        let slot = |offset: i32| CounterSlot(offset as u32 / 8);
        counts.shards.add_as_java(thread, slot(second), 3);
        let found = read_complete_calls(&complete_calls_path(&own)).expect("the files");
        let pair = |class, counter| ReceiverPair {
            site: site.0,
            class,
            counter,
        };
        let mut pairs = found.pairs;
        pairs.sort_by_key(|pair| pair.class);
        assert_eq!(pairs, [pair(7, site.0), pair(8, slot(second).0)]);
        assert_eq!(found.counts[site.0 as usize], 4);
        assert_eq!(found.counts[slot(second).0 as usize], 3);
        assert_eq!(found.receivers[0].class, "La/B;");
    }
}
