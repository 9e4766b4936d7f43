//! Tallies: the tables that compiled probes fill. A *tally* is an aggregation map, like a BPF map
//! or an aggregation in DTrace. The tables are outside the Java heap, in a mapped file.
//!
//! `VeneerTables` writes the tables by address on application threads. The plan thread creates,
//! reads and clears them here; client threads read them. A mutex protects the list of tables, not
//! their contents.
//!
//! ```text
//!   table     header | the rest | entry | entry | …              the rest: values that found no entry
//!   strings   header | string | string | …                       directly behind their table
//!
//!   header of a table      offset 0   number of slots; each slot holds an entry or is free
//!                                 8   bytes of an entry
//!                                16   the most entries
//!                                24   lower half: entries, the reserved ones included; upper half:
//!                                     reserved entries. For `last` and `sample`: recorded combinations
//!                                32   address of the strings
//!                                40   offset of the thread-local parts in a shard, or -1
//!                                48   two auxiliary words, see below
//!   header of the strings  offset 0   number of slots
//!                                 8   the most strings
//!                                16   strings, in the same two halves. In `last` tables: the number
//!                                     of the latest string
//!                                24   in `last` tables, bytes of a slot for characters
//!
//!   entry                  state(8) tags of the keys(8) key(8) × 4  value…
//!   entry of last, sample  state(8) tags(8) recorded value(8) × 4  time(8) thread(8) thread name(8)
//!   string                 state(8) length(4) is UTF-16(4)  64 characters of 1 or 2 bytes
//! ```
//!
//! The state of an entry is 0 if the slot is free, and otherwise a hash of the keys. While a thread
//! writes the entry, the state is another hash, whose lower two bits are 01 (`VeneerPlaces`). The state
//! of a string follows the same rule. In `last` and `sample` tables the state of an entry is 1 while a
//! thread writes it, and otherwise the sequence number of the recorded combination plus 2.
//!
//! The strings of a `last` table are a ring of [`STRINGS_OF_OCCURRENCE`] strings for each entry, because
//! each combination may have strings of its own. The state of a string is then its number plus 1, and
//! its number decides its slot.
//!
//! | kind | first auxiliary word | second auxiliary word |
//! | --- | --- | --- |
//! | `linear` | start of the first bucket | width of a bucket |
//! | `sample` | seed | combinations recorded before the last clear |
//! | `last` | unused | combinations recorded before the last clear |
//!
//! Counts, sums and buckets also have thread-local parts among the counters of each thread, see
//! `thread_local_parts.rs`. The offsets that `VeneerTables` and
//! `VeneerTexts` use too are in `runtime_table.rs`.
//!
//! **Invariant:** a table is never moved, and its room is used again only when nothing can write to
//! it: its plan has dropped it, no attached instrument names it, and the JVM has collected each
//! version class whose code has its address. An activation in a superseded version may write to it
//! until then. If the JVM collects nothing for long, [`Tallies::abandon`] puts private memory in the
//! place of such tables. Only their addresses stay taken then.

mod content;
mod free_extents;
mod space_saving;
mod thread_local_parts;

use crate::data::call_stacks::CallStacks;
use crate::data::memory::Mapping;
use crate::data::shards::Shards;
use crate::jvm::jni::WeakGlobal;
use crate::jvm::runtime_table;
use parking_lot::{Mutex, MutexGuard, RwLock};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use veneer_instruments::{TOP_GROUP_SLOTS, TallyKind};
use veneer_probes::compile::MAX_TABLE_KEYS;

use free_extents::FreeExtents;
use thread_local_parts::ThreadLocalParts;

/// The size of the file, in bytes: the first one that the system permits. The file is sparse; its
/// size is the number of addresses for tables. A limit of the process on the size of files or of its
/// address space may forbid the first size.
const FILE_BYTES: [u64; 2] = [1 << 34, 1 << 28];
/// The most bytes of all tables together that are in the file.
pub const ROOM_BYTES: u64 = 1 << 28;
/// The most string slots of a table that recognises strings by identity. Each of these slots costs
/// an object reference of four bytes on the Java heap.
const MAX_IDENTITY_STRING_SLOTS: u64 = 1 << 14;
/// The most entries of a table.
pub const MAX_ENTRIES: u32 = 100_000;
/// Bytes of the header of a table and of its strings.
const HEADER: u64 = runtime_table::HEAD as u64;
/// Offset of the values in an entry.
const VALUES: u64 = runtime_table::VALUES as u64;
const PAGE_BYTES: u64 = 4096;
/// The most characters of a string that are stored.
const STRING_CHARS: u64 = runtime_table::TABLE_TEXT as u64;
/// Bytes of the state and the length of a string.
const STRING_HEADER: u64 = 16;
/// Bytes of a string.
const STRING_BYTES: u64 = STRING_HEADER + 2 * STRING_CHARS;
/// Slots for strings for each entry of a `last` table: the four values and the name of the thread, and
/// room for strings of threads that are delayed before they write their entry.
const STRINGS_OF_OCCURRENCE: u64 = 8;
/// Bytes of a string in a `last` table of at most [`SMALL_RING_ENTRIES`] entries.
const RING_STRING_BYTES: u64 = 256;
/// The most entries of a `last` table with long strings. Larger tables have strings of
/// [`STRING_BYTES`], so that the largest one still fits into the file.
const SMALL_RING_ENTRIES: u64 = 2_048;
/// Bytes of a pair of cells.
const CELL_PAIR_BYTES: u64 = 16;

/// Header offset of the number of recorded combinations of a `last` or `sample` table.
const RECORDED: u64 = runtime_table::TABLE_GIVEN as u64;
/// Header offset of the position of the thread-local parts. `VeneerThreads.keep` stores another
/// number there, in the tables of objects that threads keep.
const PARTS: u64 = runtime_table::TABLE_PARTS as u64;
/// Offset in the header of the strings of a `last` table: the bytes of a slot for characters.
const RING_TEXT: u64 = runtime_table::TABLE_RING_TEXT as u64;
/// Header offset of the first auxiliary word.
const AUX_0: u64 = runtime_table::TABLE_FIRST as u64;
/// Header offset of the second auxiliary word.
const AUX_1: u64 = runtime_table::TABLE_SECOND as u64;

/// The position and the shape of a table.
#[derive(Clone, Copy)]
struct TableLayout {
    /// Offset in the file. For a table of values that belong to objects, its number in
    /// `VeneerObjects`.
    offset: u64,
    kind: TallyKind,
    slots: u64,
    /// Offset of the strings in the file.
    strings: u64,
    string_slots: u64,
    /// Bytes of a string.
    string_bytes: u64,
    /// The row of `VeneerTexts.SEEN` by which strings are recognised by identity; 0 for none.
    string_row: u64,
}

impl TableLayout {
    /// The layout of a table with no room in this file.
    fn of_objects(number: u64) -> TableLayout {
        TableLayout {
            offset: number,
            kind: TallyKind::PerObject,
            slots: 0,
            strings: 0,
            string_slots: 0,
            string_bytes: STRING_BYTES,
            string_row: 0,
        }
    }

    /// Bytes of an entry.
    fn entry_bytes(&self) -> u64 {
        VALUES + 8 * self.kind.value_words()
    }

    /// Offset of the entry in a slot. Entry 0 is the rest; slot `n` is entry `n + 1`.
    fn entry(&self, number: u64) -> u64 {
        self.offset + HEADER + number * self.entry_bytes()
    }

    /// Whether the table has entries that are found by their keys.
    fn has_keyed_entries(&self) -> bool {
        !self.kind.is_probe_private() && !self.kind.has_occurrences()
    }
}

/// A table with the data that only the agent needs.
struct TallyTable {
    layout: TableLayout,
    /// Bytes of the file, the strings included.
    bytes: u64,
    label: TableLabel,
    parts: Option<ThreadLocalParts>,
    /// Whether the plan has dropped the table, so that the plan can read it no more.
    is_dropped: bool,
    /// Weak references to the version classes whose code has the table's address.
    writers: Vec<Arc<WeakGlobal>>,
}

impl TallyTable {
    /// Whether the JVM has collected all code that has the table's address.
    fn has_no_writer(&self, is_collected: &dyn Fn(&WeakGlobal) -> bool) -> bool {
        self.writers.iter().all(|writer| is_collected(writer))
    }

    /// Whether Java code keeps data of the table in an array for as long as the JVM runs.
    fn has_java_state(&self) -> bool {
        matches!(self.layout.kind, TallyKind::PerObject | TallyKind::Objects)
    }
}

struct TallyList {
    /// The parts of the file without tables and cells.
    free: FreeExtents,
    /// The tables by their numbers. A number is never used again.
    tables: BTreeMap<u32, TallyTable>,
    /// Former tables that are private memory, because code may still write to them.
    abandoned: Vec<TallyTable>,
    /// The number of the next table.
    next: u32,
    /// The unused part of the last page of cells.
    free_cells: Range<u64>,
    /// The thread-local parts of former tables.
    free_parts: Vec<ThreadLocalParts>,
    /// The rows of `VeneerTexts.SEEN` of former tables, each with the number of string slots.
    free_string_rows: Vec<(u64, u64)>,
}

impl TallyList {
    fn new(file_bytes: u64) -> TallyList {
        TallyList {
            free: FreeExtents::new(file_bytes),
            tables: BTreeMap::new(),
            abandoned: Vec::new(),
            next: 0,
            free_cells: 0..0,
            free_parts: Vec::new(),
            free_string_rows: Vec::new(),
        }
    }

    /// Bytes of the tables in the file.
    fn used_bytes(&self) -> u64 {
        self.tables.values().map(|table| table.bytes).sum()
    }

    /// The number of counters of a shard that present and former tables have.
    fn used_words(&self) -> u64 {
        let tables = self.tables.values().chain(&self.abandoned);
        let parts = tables.filter_map(|table| table.parts.as_ref());
        parts
            .chain(&self.free_parts)
            .map(ThreadLocalParts::words)
            .sum()
    }

    /// Makes the room of a former table free, which nothing can write to any more.
    fn give_back(&mut self, table: TallyTable) {
        let layout = table.layout;
        self.free.give_back(layout.offset, table.bytes);
        self.free_parts.extend(table.parts);
        if layout.string_row != 0 {
            let row = (layout.string_slots, layout.string_row);
            self.free_string_rows.push(row);
        }
    }

    fn get(&self, table: u32) -> Option<&TallyTable> {
        self.tables.get(&table)
    }

    fn get_mut(&mut self, table: u32) -> Option<&mut TallyTable> {
        self.tables.get_mut(&table)
    }

    /// Adds a table of `bytes` bytes and returns its number.
    fn add(&mut self, layout: TableLayout, bytes: u64, parts: Option<ThreadLocalParts>) -> u32 {
        let number = self.next;
        self.next += 1;
        let table = TallyTable {
            layout,
            bytes,
            label: TableLabel::default(),
            parts,
            is_dropped: false,
            writers: Vec::new(),
        };
        self.tables.insert(number, table);
        number
    }
}

/// The numbers of the tables of a JVM, by whether their plans still have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableCounts {
    /// Tables that a plan or an attached instrument has.
    pub in_use: usize,
    /// Tables that no plan and no attached instrument has. Code of former instruments may still
    /// write to them.
    pub left_behind: usize,
}

/// The owner and the name of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableLabel {
    /// The plan that created the table.
    pub plan: String,
    /// The name that the plan gave the table.
    pub name: Option<String>,
    /// Whether the entries are the nodes of a call tree.
    pub is_call_tree: bool,
}

/// All tables. See the module documentation.
pub struct Tallies {
    /// The call stacks that are keys of tables.
    pub stacks: CallStacks,
    file: Mapping,
    /// Held by readers of tables, and exclusively while the room of tables is given back. Locked
    /// before `list`.
    readers: RwLock<()>,
    list: Mutex<TallyList>,
}

/// Returns the number of slots of a table with this many entries, and the most strings it stores.
fn capacity(kind: TallyKind, entries: u64) -> (u64, u64) {
    match kind {
        TallyKind::Last => {
            let slots = entries.next_power_of_two();
            (slots, STRINGS_OF_OCCURRENCE * slots)
        }
        // Of N combinations, n + n·ln(N/n) are drawn into a sample of n; 20 n is enough for N
        // about 10⁸ times as large as n.
        TallyKind::Sample => (entries, (20 * entries).clamp(10_000, 100_000)),
        TallyKind::Distinct => ((entries * 4 / 3 + 1).next_power_of_two(), 2 * entries),
        // The number of keys is unbounded, and the strings of replaced keys stay.
        TallyKind::Top => (
            TOP_GROUP_SLOTS * entries.next_power_of_two(),
            (64 * entries).clamp(20_000, 100_000),
        ),
        // A thread looks for a free slot among the 8 slots after that of its id.
        kind if kind.is_stack() => ((entries + 8).next_power_of_two(), 1),
        _ => ((entries * 4 / 3 + 1).next_power_of_two(), entries),
    }
}

/// The tables with room in the file that plans have dropped and that no attached instrument has.
fn left_behind<'l>(
    list: &'l TallyList,
    attached: &'l HashSet<u32>,
) -> impl Iterator<Item = (u32, &'l TallyTable)> {
    let all = list.tables.iter();
    let left = all.filter(|(number, table)| table.is_dropped && !attached.contains(number));
    left.filter(|(_, table)| table.bytes > 0)
        .map(|(number, table)| (*number, table))
}

/// Creates the file with the first of the sizes that the system permits.
fn create_file(path: &Path) -> io::Result<Mapping> {
    let [large, small] = FILE_BYTES;
    if cfg!(miri) {
        return Mapping::create(path, small);
    }
    Mapping::create(path, large).or_else(|_| Mapping::create(path, small))
}

impl Tallies {
    /// Creates the file, without tables.
    pub fn create(path: &Path) -> io::Result<Tallies> {
        let file = create_file(path)?;
        Ok(Tallies {
            stacks: CallStacks::default(),
            readers: RwLock::default(),
            list: Mutex::new(TallyList::new(file.len())),
            file,
        })
    }

    fn list(&self) -> MutexGuard<'_, TallyList> {
        self.list.lock()
    }

    /// Creates a table and returns its number. Returns `None` if the room for tables or the disk is
    /// full.
    pub fn create_table(&self, shards: &Shards, kind: TallyKind, entries: u32) -> Option<u32> {
        let mut list = self.list();
        let entries = u64::from(entries.clamp(1, MAX_ENTRIES));
        let (slots, max_strings) = capacity(kind, entries);
        let (string_slots, string_bytes) = match kind {
            TallyKind::Last if slots <= SMALL_RING_ENTRIES => (max_strings, RING_STRING_BYTES),
            TallyKind::Last => (max_strings, STRING_BYTES),
            _ => ((max_strings * 4 / 3 + 1).next_power_of_two(), STRING_BYTES),
        };
        let entry_bytes = VALUES + 8 * kind.value_words();
        let table_bytes = HEADER + (slots + 1) * entry_bytes;
        let all_bytes = table_bytes + HEADER + string_slots * string_bytes;
        let all_bytes = all_bytes.next_multiple_of(PAGE_BYTES);
        if list.used_bytes() + all_bytes > ROOM_BYTES {
            return None;
        }
        let offset = list.free.take(all_bytes)?;
        if self.file.claim(offset, all_bytes).is_err() {
            list.free.give_back(offset, all_bytes);
            return None;
        }
        let strings = offset + table_bytes;
        let set = |offset: u64, value: u64| {
            let word = self.file.word(offset);
            word.store(value as i64, Ordering::Release);
        };
        set(strings, string_slots);
        set(strings + 8, max_strings);
        if kind == TallyKind::Last {
            set(strings + RING_TEXT, string_bytes - STRING_HEADER);
        }
        set(offset, slots);
        set(offset + 8, entry_bytes);
        set(offset + 16, entries);
        set(offset + 32, self.file.address() as u64 + strings);
        let used_words = list.used_words();
        let free_parts = &mut list.free_parts;
        let parts = ThreadLocalParts::allocate(shards, used_words, kind, slots + 1, free_parts);
        let parts_offset = |p: &ThreadLocalParts| p.slot.byte_offset();
        set(
            offset + PARTS,
            parts.as_ref().map_or(u64::MAX, parts_offset),
        );
        match kind {
            TallyKind::Linear(linear) => {
                set(offset + AUX_0, linear.from as u64);
                set(offset + AUX_1, linear.step as u64);
            }
            // Two samples must not draw the same numbers.
            TallyKind::Sample => set(offset + AUX_0, (u64::from(list.next) + 1) << 32),
            _ => {}
        }
        let layout = TableLayout {
            offset,
            kind,
            slots,
            strings,
            string_slots,
            string_bytes,
            string_row: 0,
        };
        Some(list.add(layout, all_bytes, parts))
    }

    /// Records that the plan has dropped a table.
    pub fn drop_table(&self, table: u32) {
        if let Some(table) = self.list().get_mut(table) {
            table.is_dropped = true;
        }
    }

    /// Records a version class whose code has the address of a table, before any of the code runs.
    /// `class` is a weak reference; `is_collected` says whether the JVM has collected a class.
    /// Returns false if the room of the table was given back: the code must not run then.
    #[must_use]
    pub fn add_writer(
        &self,
        table: u32,
        class: &Arc<WeakGlobal>,
        is_collected: &dyn Fn(&WeakGlobal) -> bool,
    ) -> bool {
        let mut list = self.list();
        let Some(table) = list.get_mut(table) else {
            return false;
        };
        if table.writers.len() >= 8 {
            table.writers.retain(|writer| !is_collected(writer));
        }
        table.writers.push(class.clone());
        true
    }

    /// Gives back the room of the tables that plans have dropped and that nothing can write to any
    /// more, and returns their number. `attached` are the tables of attached instruments;
    /// `is_collected` says whether the JVM has collected a class.
    pub fn reclaim(
        &self,
        attached: &HashSet<u32>,
        is_collected: &dyn Fn(&WeakGlobal) -> bool,
    ) -> usize {
        let _no_reader = self.readers.write();
        let mut list = self.list();
        let is_unused = |number: &u32, table: &TallyTable| {
            table.is_dropped
                && !attached.contains(number)
                && !table.has_java_state()
                && table.has_no_writer(is_collected)
        };
        let all = list.tables.iter();
        let unused: Vec<u32> = all
            .filter(|(number, table)| is_unused(number, table))
            .map(|(number, _)| *number)
            .collect();
        let mut count = 0;
        for number in unused {
            if let Some(table) = list.tables.remove(&number) {
                self.file.release(table.layout.offset, table.bytes);
                list.give_back(table);
                count += 1;
            }
        }
        for table in std::mem::take(&mut list.abandoned) {
            let (offset, bytes) = (table.layout.offset, table.bytes);
            if table.has_no_writer(is_collected) && self.file.restore(offset, bytes).is_ok() {
                list.give_back(table);
                count += 1;
            } else {
                list.abandoned.push(table);
            }
        }
        count
    }

    /// Takes out of the file the tables that plans have dropped, that no attached instrument has,
    /// and to which former code may still write. They need neither disk blocks nor memory from then
    /// on. Their addresses are free after a later [`Tallies::reclaim`]. Returns their number.
    pub fn abandon(&self, attached: &HashSet<u32>) -> usize {
        let _no_reader = self.readers.write();
        let mut list = self.list();
        let left = left_behind(&list, attached);
        let left: Vec<(u32, TableLayout, u64)> = left
            .filter(|(_, table)| !table.has_java_state())
            .map(|(number, table)| (number, table.layout, table.bytes))
            .collect();
        let mut count = 0;
        for (number, layout, bytes) in left {
            // Code that still runs takes sizes and addresses from the headers.
            let headers = [layout.offset, layout.strings].map(|header| header..header + HEADER);
            if self.file.abandon(layout.offset, bytes, &headers).is_ok()
                && let Some(table) = list.tables.remove(&number)
            {
                list.abandoned.push(table);
                count += 1;
            }
        }
        count
    }

    /// Bytes of the tables that plans have dropped and that no attached instrument has.
    pub fn left_behind_bytes(&self, attached: &HashSet<u32>) -> u64 {
        let list = self.list();
        let left = left_behind(&list, attached);
        left.map(|(_, table)| table.bytes).sum()
    }

    /// Bytes of the tables in the file.
    pub fn used_bytes(&self) -> u64 {
        self.list().used_bytes()
    }

    /// Counts the tables with room in the file.
    pub fn table_counts(&self, attached: &HashSet<u32>) -> TableCounts {
        let list = self.list();
        let left_behind = left_behind(&list, attached).count();
        let all = list.tables.values().filter(|table| table.bytes > 0).count();
        TableCounts {
            in_use: all - left_behind,
            left_behind: left_behind + list.abandoned.len(),
        }
    }

    /// Takes the row of `VeneerTexts.SEEN` of a former table with so many string slots. The row
    /// still has the strings of that table.
    pub fn take_free_string_row(&self, string_slots: i64) -> Option<u64> {
        let mut list = self.list();
        let free = &mut list.free_string_rows;
        let has_size = |(slots, _): &(u64, u64)| i64::try_from(*slots) == Ok(string_slots);
        let at = free.iter().position(has_size)?;
        Some(free.swap_remove(at).1)
    }

    /// Adds a table of values that belong to objects, which `VeneerObjects` stores under `number`.
    /// Returns the number of the table here.
    pub fn add_object_table(&self, number: u64) -> u32 {
        self.list().add(TableLayout::of_objects(number), 0, None)
    }

    /// Returns the number of a table in `VeneerObjects`, if its values belong to objects.
    pub fn object_table_number(&self, table: u32) -> Option<i64> {
        let list = self.list();
        let layout = list.get(table)?.layout;
        (layout.kind == TallyKind::PerObject).then_some(layout.offset as i64)
    }

    /// Sets the owner of a table, and its name. A table without a new name keeps its name.
    pub fn label(&self, table: u32, label: TableLabel) {
        if let Some(table) = self.list().get_mut(table) {
            let known = &mut table.label;
            known.name = label.name.or(known.name.take());
            known.plan = label.plan;
            known.is_call_tree |= label.is_call_tree;
        }
    }

    /// Returns the tables that can be shown, in order of creation.
    pub fn labelled_tables(&self) -> Vec<(u32, TallyKind, TableLabel)> {
        let list = self.list();
        let all = list.tables.iter();
        all.filter(|(_, table)| !table.layout.kind.is_probe_private())
            .map(|(n, table)| (*n, table.layout.kind, table.label.clone()))
            .collect()
    }

    /// Allocates a pair of cells, both 0, and returns its address. A cell counts how often an
    /// instrument has acted. Returns `None` if the file or the disk is full.
    pub fn allocate_cells(&self) -> Option<i64> {
        let mut list = self.list();
        if list.free_cells.is_empty() {
            let offset = list.free.take(PAGE_BYTES)?;
            if self.file.claim(offset, PAGE_BYTES).is_err() {
                list.free.give_back(offset, PAGE_BYTES);
                return None;
            }
            list.free_cells = offset..offset + PAGE_BYTES;
        }
        let offset = list.free_cells.start;
        list.free_cells.start += CELL_PAIR_BYTES;
        Some(self.file.address() + offset as i64)
    }

    /// The offset of a cell with this address; `None` for an address outside the file.
    fn cell_offset(&self, address: i64) -> Option<u64> {
        let offset = u64::try_from(address.checked_sub(self.file.address())?).ok()?;
        (offset.is_multiple_of(8) && offset < self.file.len()).then_some(offset)
    }

    /// Sets the cell at this address.
    pub fn set_cell(&self, address: i64, value: i64) {
        if let Some(offset) = self.cell_offset(address) {
            self.file.word(offset).store(value, Ordering::Release);
        }
    }

    /// Returns the cell at this address, 0 if there is none.
    pub fn cell(&self, address: i64) -> u64 {
        let offset = self.cell_offset(address);
        offset.map_or(0, |offset| self.word(offset).max(0) as u64)
    }

    /// Returns the constant by which compiled code refers to a table; 0 for an unknown table.
    ///
    /// For a table with keyed entries the constant has three parts, so that the JIT compiler knows
    /// all of them:
    ///
    /// * the address;
    /// * in the lower 6 bits, the binary logarithm of the number of slots;
    /// * in the upper 16 bits, the row of `VeneerTexts.SEEN`.
    ///
    /// For values that belong to objects the constant is the number in `VeneerObjects`. For other
    /// tables it is the address.
    pub fn address(&self, table: u32) -> i64 {
        let list = self.list();
        let layout = list.get(table).map(|table| table.layout);
        layout.map_or(0, |layout| {
            let address = self.file.address() + layout.offset as i64;
            match layout.kind {
                TallyKind::PerObject => layout.offset as i64,
                _ if !layout.has_keyed_entries() => address,
                _ => {
                    let slots = i64::from(layout.slots.trailing_zeros());
                    address | slots | (layout.string_row << 48) as i64
                }
            }
        })
    }

    /// Returns the number of string slots of a table that can recognise strings by identity; `None`
    /// for other tables.
    pub fn identity_string_slots(&self, table: u32) -> Option<i64> {
        let list = self.list();
        let layout = list.get(table)?.layout;
        let is_small = layout.string_slots <= MAX_IDENTITY_STRING_SLOTS;
        (layout.has_keyed_entries() && is_small).then_some(layout.string_slots as i64)
    }

    /// Sets the row of `VeneerTexts.SEEN` by which a table recognises strings by identity.
    pub fn set_string_row(&self, table: u32, row: u64) {
        if let Some(table) = self.list().get_mut(table) {
            table.layout.string_row = row;
        }
    }

    /// Returns the number of slots of a table.
    pub fn slots(&self, table: u32) -> i64 {
        let list = self.list();
        list.get(table).map_or(0, |t| t.layout.slots as i64)
    }

    fn word(&self, offset: u64) -> i64 {
        self.file.word(offset).load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests;
