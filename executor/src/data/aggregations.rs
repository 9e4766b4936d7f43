//! Tables that compiled probes fill, off the heap in a mapped file: `VeneerTables` writes to them by address, and whoever wants to
//! know reads them here.
//!
//! ```text
//!   | head: places, bytes of an entry, entries at most, entries, address of strings, parts, two of the kind | the rest | entry | entry | …
//!   | head: places, strings at most, strings, – …                                            | string | string | …
//! ```
//!
//! An entry: state (0 free, 1 being made, else a hash), tags of its keys, four keys, values. Of the latest and of a sample: state (2 and a
//! number), tags, four values, time, thread. A string: state, length, characters. Two of the kind: of a linear histogram where its
//! buckets begin and their width, of a sample its seed; of that and of the latest how many had come when it was cleared. Parts: where among its
//! counters a thread adds up counts, sums and buckets for itself (`parts.rs`), -1 where all threads do in the entry. The same
//! numbers stand in `VeneerTables`. A table stays until the JVM ends: an activation in a version that is superseded may still write.

mod rate;
mod space_saving;
mod thread_local_parts;

use crate::data::call_stacks::CallStacks;
use crate::data::memory::Mapping;
use crate::data::shards::Shards;
use crate::jvm::runtime_table;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};
use veneer_instruments::{Entry, GROUP, Key, Moment, Tally, TallyKind};
use veneer_probes::compile::{KEYS, Tag};

use thread_local_parts::Parts;

/// In the word of an object that is a string, whose number is in the lower half.
const STRINGS: i64 = runtime_table::STRINGS;

/// Bytes of all tables together at most.
const SIZE: u64 = 1 << 28;
/// Places for strings at most of a table that knows them by identity: an object of four bytes each on the heap.
const FEW: u64 = 1 << 14;
/// Entries of a table at most.
pub const MOST: u32 = 100_000;
const HEAD: u64 = runtime_table::HEAD as u64;
const VALUES: u64 = runtime_table::VALUES as u64;
const PAGE: u64 = 4096;
const TEXT: u64 = runtime_table::TABLE_TEXT as u64;
const STRING: u64 = 16 + 2 * TEXT;
/// In the head: how many have been given to a table of single values.
const GIVEN: u64 = runtime_table::TABLE_GIVEN as u64;
/// In the head: where the parts of threads lie; of what a thread keeps for itself something else, see `VeneerThreads.keep`.
const PARTS: u64 = runtime_table::TABLE_PARTS as u64;
/// The two of the kind.
const FIRST: u64 = runtime_table::TABLE_FIRST as u64;
const SECOND: u64 = runtime_table::TABLE_SECOND as u64;

#[derive(Clone, Copy)]
struct Place {
    at: u64,
    kind: TallyKind,
    places: u64,
    strings: u64,
    strings_places: u64,
    /// Where strings are known by identity; see `VeneerTexts.SEEN`.
    row: u64,
}

#[derive(Default)]
struct State {
    used: u64,
    tables: Vec<Place>,
    /// One for each of `tables`.
    labels: Vec<Label>,
    /// One for each of `tables`: what threads add up for themselves.
    parts: Vec<Option<Parts>>,
    /// What is left of the last page that was claimed for cells.
    cells: Range<u64>,
}

/// Whose a table is, and what it is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The plan that made it.
    pub plan: String,
    /// The name that the plan gave.
    pub name: Option<String>,
}

/// See the module documentation.
pub struct Tallies {
    /// Those that are keys.
    pub stacks: CallStacks,
    file: Mapping,
    state: Mutex<State>,
}

impl Tallies {
    /// Makes the file.
    pub fn create(path: &Path) -> io::Result<Tallies> {
        Ok(Tallies {
            stacks: CallStacks::default(),
            file: Mapping::create(path, SIZE)?,
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A new table, and its number. `None` where there is no room for it, or none on the disk.
    pub fn make(&self, shards: &Shards, kind: TallyKind, entries: u32) -> Option<u32> {
        let mut state = self.state();
        let entries = u64::from(entries.clamp(1, MOST));
        let (places, strings_most) = match kind {
            // It goes round, and what it has forgotten has left its strings.
            TallyKind::Last => (entries.next_power_of_two(), (4 * entries).max(10_000)),
            // So many are drawn in turn from some 10⁸ times as many as it keeps: n + n·ln(N/n) of N.
            TallyKind::Sample => (entries, (20 * entries).clamp(10_000, 100_000)),
            TallyKind::Distinct => ((entries * 4 / 3 + 1).next_power_of_two(), 2 * entries),
            // Keys without bound come here, and their strings stay.
            TallyKind::Top => (
                GROUP * entries.next_power_of_two(),
                (64 * entries).clamp(20_000, 100_000),
            ),
            // Threads find a place among the next few.
            kind if kind.is_stack() => ((entries + 8).next_power_of_two(), 1),
            _ => ((entries * 4 / 3 + 1).next_power_of_two(), entries),
        };
        let strings_places = (strings_most * 4 / 3 + 1).next_power_of_two();
        let size = VALUES + 8 * kind.words();
        let table = HEAD + (places + 1) * size;
        let all = (table + HEAD + strings_places * STRING).next_multiple_of(4096);
        let at = state.used;
        if at + all > SIZE {
            return None;
        }
        self.file.claim(at, all).ok()?;
        let strings = at + table;
        let word = |offset: u64, value: u64| {
            let word = self.file.word(offset);
            word.store(value as i64, Ordering::Release);
        };
        word(strings, strings_places);
        word(strings + 8, strings_most);
        word(at, places);
        word(at + 8, size);
        word(at + 16, entries);
        word(at + 32, self.file.address() as u64 + strings);
        let parts = thread_local_parts::make(shards, &state.parts, kind, places + 1);
        word(
            at + PARTS,
            parts.as_ref().map_or(u64::MAX, |p| 8 * u64::from(p.slot)),
        );
        match kind {
            TallyKind::Linear(linear) => {
                word(at + FIRST, linear.from as u64);
                word(at + SECOND, linear.step as u64);
            }
            // Different for each table, so that two of them do not draw the same.
            TallyKind::Sample => word(at + FIRST, (state.tables.len() as u64 + 1) << 32),
            _ => {}
        }
        state.used += all;
        state.tables.push(Place {
            at,
            kind,
            places,
            strings,
            strings_places,
            row: 0,
        });
        state.labels.push(Label::default());
        state.parts.push(parts);
        Some(state.tables.len() as u32 - 1)
    }

    /// The number of a table of values that belong to objects among these, if it is one.
    pub fn objects(&self, table: u32) -> Option<i64> {
        let state = self.state();
        let found = state.tables.get(table as usize);
        found
            .filter(|t| t.kind == TallyKind::PerObject)
            .map(|t| t.at as i64)
    }

    /// A new table of values that belong to objects, which lies elsewhere (`VeneerObjects`): its number there.
    pub fn of_objects(&self, number: u64) -> u32 {
        let mut state = self.state();
        state.tables.push(Place {
            at: number,
            kind: TallyKind::PerObject,
            places: 0,
            strings: 0,
            strings_places: 0,
            row: 0,
        });
        state.labels.push(Label::default());
        state.parts.push(None);
        state.tables.len() as u32 - 1
    }

    /// Says whose a table is; a name that it has stays unless there is another one.
    pub fn label(&self, table: u32, label: Label) {
        if let Some(known) = self.state().labels.get_mut(table as usize) {
            known.name = label.name.or(known.name.take());
            known.plan = label.plan;
        }
    }

    /// All tables that can be shown, in the order in which they were made.
    pub fn list(&self) -> Vec<(u32, TallyKind, Label)> {
        let state = self.state();
        let all = state.tables.iter().zip(&state.labels).enumerate();
        all.filter(|(_, (place, _))| !place.kind.is_own())
            .map(|(n, (place, label))| (n as u32, place.kind, label.clone()))
            .collect()
    }

    /// Where two words of memory lie that are nobody else's: cells of what acts so many times only. `None` where there is no room.
    pub fn cells(&self) -> Option<i64> {
        let mut state = self.state();
        if state.cells.is_empty() {
            let at = state.used;
            if at + PAGE > SIZE {
                return None;
            }
            self.file.claim(at, PAGE).ok()?;
            state.used += PAGE;
            state.cells = at..at + PAGE;
        }
        let at = state.cells.start;
        state.cells.start += 16;
        Some(self.file.address() + at as i64)
    }

    /// Has a cell of [`Tallies::cells`] say something.
    pub fn set_cell(&self, at: i64, value: i64) {
        let offset = at.saturating_sub(self.file.address());
        if let Some(offset) = u64::try_from(offset).ok().filter(|o| *o < SIZE) {
            self.file.word(offset).store(value, Ordering::Release);
        }
    }

    /// What a cell of [`Tallies::cells`] says.
    pub fn cell(&self, at: i64) -> u64 {
        let offset = at.saturating_sub(self.file.address());
        match u64::try_from(offset) {
            Ok(offset) if offset < SIZE => self.word(offset).max(0) as u64,
            _ => 0,
        }
    }

    /// What code has of a table: its address, and, where entries are looked for by their keys, in the lower six bits its number of places as a power of
    /// two, and in the upper 16 where its strings are known by identity. So all that is constant in the code. 0 where there is no such
    /// table. Of one with values of objects its number among these.
    pub fn address(&self, table: u32) -> i64 {
        let state = self.state();
        let found = state.tables.get(table as usize);
        found.map_or(0, |t| match t.kind {
            TallyKind::PerObject => t.at as i64,
            kind if kind.is_own() || kind.has_moments() => self.file.address() + t.at as i64,
            _ => {
                let at = self.file.address() + t.at as i64;
                at | i64::from(t.places.trailing_zeros()) | (t.row << 48) as i64
            }
        })
    }

    /// How many places for strings a table has that may know them by identity.
    pub fn texts(&self, table: u32) -> Option<i64> {
        let state = self.state();
        let found = state.tables.get(table as usize)?;
        let is_kept = !found.kind.is_own() && !found.kind.has_moments();
        (is_kept && found.strings_places <= FEW).then_some(found.strings_places as i64)
    }

    /// From here on it does, in this row.
    pub fn know_texts(&self, table: u32, row: u64) {
        if let Some(table) = self.state().tables.get_mut(table as usize) {
            table.row = row;
        }
    }

    /// How many places a table has.
    pub fn places(&self, table: u32) -> i64 {
        let state = self.state();
        let found = state.tables.get(table as usize);
        found.map_or(0, |t| t.places as i64)
    }

    /// What a table holds now. `began`: what times count from.
    pub fn read(&self, shards: &Shards, table: u32, began: u64) -> Tally {
        let (place, parts) = {
            let state = self.state();
            let Some(place) = state.tables.get(table as usize).copied() else {
                return Tally::default();
            };
            let parts = state.parts.get(table as usize).and_then(Option::as_ref);
            (place, parts.map_or_else(Vec::new, |p| p.now(shards)))
        };
        let words = place.kind.words() as usize;
        let part = |n: u64| {
            let own = parts.chunks_exact(words.max(1)).nth(n as usize);
            own.unwrap_or_default()
        };
        if place.kind.is_own() {
            return Tally::default();
        }
        let size = VALUES + 8 * place.kind.words();
        let first = place.at + HEAD;
        let mut out = Tally {
            rest: match place.kind {
                TallyKind::Last | TallyKind::Top => self.values(first, &[], TallyKind::Count),
                TallyKind::Sample => Entry::default(),
                kind => self.values(first, part(0), kind),
            },
            ..Tally::default()
        };
        if place.kind.has_moments() {
            let before = self.word(place.at + SECOND);
            let given = self.word(place.at + GIVEN).wrapping_sub(before);
            out.given = Some(given.max(0) as u64);
        }
        for n in 1..=place.places {
            let at = first + n * size;
            let read = match place.kind {
                TallyKind::Top => match self.shared(&place, at) {
                    Ok(read) => read,
                    Err(count) => {
                        out.rest.count = out.rest.count.saturating_add(count);
                        None
                    }
                },
                _ => self.entry(&place, at, part(n), began),
            };
            out.entries.extend(read);
        }
        if let (TallyKind::Sample, Some(given)) = (place.kind, out.given) {
            out.rest.count = given.saturating_sub(out.entries.len() as u64);
        }
        if place.kind.has_moments() {
            return out;
        }
        out.joined()
    }

    /// What stands at a place. `None` where it is free, or was written over meanwhile.
    fn entry(&self, place: &Place, at: u64, part: &[i64], began: u64) -> Option<Entry> {
        let state = self.word(at);
        if state as u64 <= 1 {
            return None;
        }
        let mut entry = match place.kind {
            TallyKind::Last | TallyKind::Sample => self.moment(place, at, began)?,
            kind => self.values(at, part, kind),
        };
        if entry.count == 0 {
            return None;
        }
        self.keys(place, at, &mut entry);
        (self.word(at) == state).then_some(entry)
    }

    /// Reads the keys of a place.
    fn keys(&self, place: &Place, at: u64, into: &mut Entry) {
        let tags = self.word(at + 8) as u64;
        for k in 0..KEYS {
            let word = self.word(at + 16 + 8 * k as u64);
            if let Some(tag) = Tag::of(tags, k) {
                into.keys.push(self.key(place, tag, word));
                into.marks.push(self.mark(place, tag, word));
            }
        }
    }

    /// Sets all values to nothing. The keys stay, and their room is not given back: threads may be at them.
    pub fn clear(&self, shards: &Shards, table: u32) {
        let place = {
            let mut state = self.state();
            let Some(place) = state.tables.get(table as usize).copied() else {
                return;
            };
            if let Some(Some(parts)) = state.parts.get_mut(table as usize) {
                parts.clear(shards);
            }
            place
        };
        let size = VALUES + 8 * place.kind.words();
        if place.kind.is_own() {
            return;
        }
        if place.kind.has_moments() {
            // Counted from here.
            let given = self.word(place.at + GIVEN);
            let base = self.file.word(place.at + SECOND);
            base.store(given, Ordering::Release);
            let rest = self.file.word(place.at + HEAD + VALUES);
            rest.store(0, Ordering::Release);
            for n in 1..=place.places {
                let state = self.file.word(place.at + HEAD + n * size);
                let known = state.load(Ordering::Acquire);
                // One that is being written is newer.
                if known != 1 {
                    let (done, failed) = (Ordering::AcqRel, Ordering::Acquire);
                    let _ = state.compare_exchange(known, 0, done, failed);
                }
            }
            return;
        }
        for n in 0..=place.places {
            let values = place.at + HEAD + n * size + VALUES;
            let words = match place.kind {
                // The last one says who is at work there.
                TallyKind::Top => 2,
                kind => kind.words(),
            };
            for word in 0..words {
                self.file
                    .word(values + 8 * word)
                    .store(0, Ordering::Release);
            }
        }
    }

    fn word(&self, offset: u64) -> i64 {
        self.file.word(offset).load(Ordering::Acquire)
    }

    /// See `VeneerTables.put`. `None` of what came before the table was cleared.
    fn moment(&self, place: &Place, entry: u64, began: u64) -> Option<Entry> {
        let before = self.word(place.at + SECOND).wrapping_add(2);
        let number = self.word(entry).wrapping_sub(before);
        let number = u64::try_from(number).ok()?;
        Some(Entry {
            count: 1,
            at: Some(Moment {
                number,
                time_ns: (self.word(entry + VALUES) as u64).saturating_sub(began),
                thread_id: self.word(entry + VALUES + 8),
            }),
            ..Entry::default()
        })
    }

    /// The values of an entry: what stands there, with what threads have added up for themselves.
    fn values(&self, entry: u64, part: &[i64], kind: TallyKind) -> Entry {
        let value = |n: u64| {
            let own = part.get(n as usize).copied().unwrap_or_default();
            self.word(entry + VALUES + 8 * n).wrapping_add(own)
        };
        let mut out = Entry {
            count: value(0) as u64,
            ..Entry::default()
        };
        if kind.has_sums() && out.count > 0 {
            // See `VeneerTables.sum`.
            (out.sum, out.max, out.min) = (value(1), value(2) ^ i64::MIN, !value(3) ^ i64::MIN);
        }
        if kind.has_buckets() {
            out.buckets = (4..kind.words()).map(|n| value(n) as u64).collect();
        }
        match kind {
            TallyKind::Rate if out.count > 0 => out.rate = Some(self.rate(entry + VALUES)),
            // One value, with its keys.
            TallyKind::Distinct if out.count > 0 => out.distinct = 1,
            _ => {}
        }
        if kind == TallyKind::Histogram {
            let used = out
                .buckets
                .iter()
                .rposition(|n| *n > 0)
                .map_or(0, |n| n + 1);
            out.buckets.truncate(used);
        }
        out
    }

    fn key(&self, place: &Place, tag: Tag, word: i64) -> Key {
        match tag {
            Tag::Integer => Key::Integer(word),
            Tag::Float => Key::Float(f64::from_bits(word as u64)),
            Tag::Bool => Key::Bool(word != 0),
            Tag::Object if word & STRINGS == 0 => Key::Object(word as u32),
            Tag::Object => Key::Text(self.string(place, (word ^ STRINGS) as i32)),
            Tag::Text => Key::Text(self.string(place, word as i32)),
            Tag::Stack => Key::Stack(self.stacks.lines(word)),
        }
    }

    /// What tells a string apart from others with the same beginning, in any table: its hash and its length.
    fn mark(&self, place: &Place, tag: Tag, word: i64) -> [u64; 2] {
        let number = match tag {
            Tag::Text => word,
            Tag::Object if word & STRINGS != 0 => i64::from((word ^ STRINGS) as i32),
            _ => 0,
        };
        match u64::try_from(number.wrapping_sub(1)) {
            Ok(n) if n < place.strings_places => {
                let at = place.strings + HEAD + n * STRING;
                [self.word(at) as u64, self.word(at + 8) as u64]
            }
            _ => [0, 0],
        }
    }

    /// The string of a number that `VeneerProbe.text` gave.
    fn string(&self, place: &Place, number: i32) -> Option<String> {
        match number {
            0 => None,
            n if n > 0 => self.text(place, n as u64 - 1),
            _ => Some("(a string for which there was no room)".into()),
        }
    }

    fn text(&self, place: &Place, n: u64) -> Option<String> {
        let at = (n < place.strings_places).then_some(place.strings + HEAD + n * STRING)?;
        let form = self.word(at + 8) as u64;
        let length = (form & 0xffff_ffff).min(TEXT) as usize;
        if form >> 32 == 0 {
            // ISO 8859-1, whose characters have the same numbers.
            let bytes = self.file.copy(at + 16, length);
            return Some(bytes.iter().map(|b| char::from(*b)).collect());
        }
        let bytes = self.file.copy(at + 16, 2 * length);
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|b| u16::from_ne_bytes([b[0], b[1]]))
            .collect();
        Some(String::from_utf16_lossy(&units))
    }
}
