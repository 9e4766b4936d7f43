//! The content of a table: reading and clearing its entries while application threads write to it.

use super::{
    AUX_1, HEADER, MAX_TABLE_KEYS, RECORDED, STRING_CHARS, STRING_HEADER, TableLayout, Tallies,
    VALUES,
};
use crate::data::monotonic::monotonic;
use crate::data::shards::Shards;
use crate::jvm::runtime_table;
use std::sync::atomic::Ordering;
use veneer_instruments::{Occurrence, Tally, TallyEntry, TallyKey, TallyKind};
use veneer_probes::compile::KeyTag;

/// A bit in the word of an object key: the object is a string, whose number is in the lower half.
const IS_STRING: i64 = runtime_table::STRINGS;

/// Whether an entry with this state has its keys, see `VeneerPlaces.isWriting`.
fn is_written(kind: TallyKind, state: i64) -> bool {
    match state {
        0 | 1 => false,
        _ => kind.has_occurrences() || state & 3 != 1,
    }
}

impl Tallies {
    /// Returns the current content of a table. Times count from `began`, a value of
    /// `System.nanoTime()`. The table of an unknown number is empty.
    pub fn read(&self, shards: &Shards, table: u32, began: u64) -> Tally {
        let _readers = self.readers.read();
        let (layout, parts) = {
            let list = self.list();
            let Some(table) = list.get(table) else {
                return Tally::default();
            };
            let parts = table.parts.as_ref();
            (
                table.layout,
                parts.map_or_else(Vec::new, |p| p.sums(shards)),
            )
        };
        if layout.kind.is_probe_private() {
            return Tally::default();
        }
        let words = layout.kind.value_words() as usize;
        let part = |number: u64| {
            let part = parts.chunks_exact(words.max(1)).nth(number as usize);
            part.unwrap_or_default()
        };
        let rest = layout.entry(0);
        let mut out = Tally {
            rest: match layout.kind {
                TallyKind::Last | TallyKind::Top => self.values(rest, &[], TallyKind::Count),
                TallyKind::Sample => TallyEntry::default(),
                kind => self.values(rest, part(0), kind),
            },
            ..Tally::default()
        };
        if layout.kind.has_occurrences() {
            let before = self.word(layout.offset + AUX_1);
            let recorded = self.word(layout.offset + RECORDED).wrapping_sub(before);
            out.given = Some(recorded.max(0) as u64);
        }
        for number in 1..=layout.slots {
            let offset = layout.entry(number);
            let entry = match layout.kind {
                TallyKind::Top => match self.space_saving_entry(&layout, offset) {
                    Ok(entry) => entry,
                    Err(count) => {
                        out.rest.count = out.rest.count.saturating_add(count);
                        None
                    }
                },
                _ => self.entry(&layout, offset, part(number), began),
            };
            out.entries.extend(entry);
        }
        if let (TallyKind::Sample, Some(recorded)) = (layout.kind, out.given) {
            out.rest.count = recorded.saturating_sub(out.entries.len() as u64);
        }
        if layout.kind.has_occurrences() {
            return out;
        }
        out.merge_equal_keys()
    }

    /// The entry at this offset. Returns `None` if the slot is free, or if a thread overwrites the
    /// entry during the call.
    fn entry(&self, layout: &TableLayout, at: u64, part: &[i64], began: u64) -> Option<TallyEntry> {
        let state = self.word(at);
        if !is_written(layout.kind, state) {
            return None;
        }
        let mut entry = match layout.kind {
            TallyKind::Last | TallyKind::Sample => self.moment(layout, at, began)?,
            kind => self.values(at, part, kind),
        };
        if entry.count == 0 {
            return None;
        }
        self.read_keys(layout, at, &mut entry);
        (self.word(at) == state).then_some(entry)
    }

    /// Reads the keys of the entry at this offset.
    pub(super) fn read_keys(&self, layout: &TableLayout, at: u64, into: &mut TallyEntry) {
        let tags = self.word(at + 8) as u64;
        for k in 0..MAX_TABLE_KEYS {
            let word = self.word(at + 16 + 8 * k as u64);
            if let Some(tag) = KeyTag::decode(tags, k) {
                into.keys.push(self.key(layout, tag, word));
                into.marks.push(self.mark(layout, tag, word));
            }
        }
    }

    /// Sets all values to zero. The keys keep their slots, because threads may be using them.
    pub fn clear(&self, shards: &Shards, table: u32) {
        let _readers = self.readers.read();
        let layout = {
            let mut list = self.list();
            let Some(table) = list.get_mut(table) else {
                return;
            };
            if let Some(parts) = &mut table.parts {
                parts.clear(shards);
            }
            table.layout
        };
        if layout.kind.is_probe_private() {
            return;
        }
        if layout.kind.has_occurrences() {
            return self.clear_moments(&layout);
        }
        let words = match layout.kind {
            // The third word is the lock of the group.
            TallyKind::Top => 2,
            kind => kind.value_words(),
        };
        for number in 0..=layout.slots {
            let values = layout.entry(number) + VALUES;
            for word in 0..words {
                let word = self.file.word(values + 8 * word);
                word.store(0, Ordering::Release);
            }
        }
    }

    /// Clears a `last` or `sample` table: combinations are counted from now on.
    fn clear_moments(&self, layout: &TableLayout) {
        let recorded = self.word(layout.offset + RECORDED);
        let base = self.file.word(layout.offset + AUX_1);
        base.store(recorded, Ordering::Release);
        let rest = self.file.word(layout.entry(0) + VALUES);
        rest.store(0, Ordering::Release);
        for number in 1..=layout.slots {
            let state = self.file.word(layout.entry(number));
            let known = state.load(Ordering::Acquire);
            // An entry that a thread is writing is newer than the clear.
            if known != 1 {
                let (done, failed) = (Ordering::AcqRel, Ordering::Acquire);
                let _ = state.compare_exchange(known, 0, done, failed);
            }
        }
    }

    /// The time and thread of an entry, see `VeneerTables.write`. Returns `None` if the entry was
    /// recorded before the table was cleared.
    fn moment(&self, layout: &TableLayout, at: u64, began: u64) -> Option<TallyEntry> {
        let before = self.word(layout.offset + AUX_1).wrapping_add(2);
        let number = self.word(at).wrapping_sub(before);
        let number = u64::try_from(number).ok()?;
        Some(TallyEntry {
            count: 1,
            at: Some(Occurrence {
                number,
                time_ns: (self.word(at + VALUES) as u64).saturating_sub(began),
                thread_id: self.word(at + VALUES + 8),
            }),
            thread_name: self.string(layout, self.word(at + VALUES + 16) as i32),
            ..TallyEntry::default()
        })
    }

    /// The values of an entry: those in the table plus the thread-local parts.
    fn values(&self, entry: u64, part: &[i64], kind: TallyKind) -> TallyEntry {
        let value = |n: u64| {
            let part = part.get(n as usize).copied().unwrap_or_default();
            self.word(entry + VALUES + 8 * n).wrapping_add(part)
        };
        kind.decode(value, || monotonic() / 1_000_000_000)
    }

    fn key(&self, layout: &TableLayout, tag: KeyTag, word: i64) -> TallyKey {
        match tag {
            KeyTag::Integer => TallyKey::Integer(word),
            KeyTag::Float => TallyKey::Float(f64::from_bits(word as u64)),
            KeyTag::Bool => TallyKey::Bool(word != 0),
            KeyTag::Object if word & IS_STRING == 0 => TallyKey::Object(word as u32),
            KeyTag::Object => TallyKey::Text(self.string(layout, (word ^ IS_STRING) as i32)),
            KeyTag::Text => TallyKey::Text(self.string(layout, word as i32)),
            KeyTag::Stack => TallyKey::Stack(self.stacks.stack_lines(word)),
        }
    }

    /// The hash and the length of a string key. They distinguish strings with the same beginning,
    /// in all tables. Zeros for other keys.
    fn mark(&self, layout: &TableLayout, tag: KeyTag, word: i64) -> [u64; 2] {
        let number = match tag {
            KeyTag::Text => word,
            KeyTag::Object if word & IS_STRING != 0 => i64::from((word ^ IS_STRING) as i32),
            _ => 0,
        };
        match u64::try_from(number.wrapping_sub(1)) {
            Ok(n) if n < layout.string_slots && layout.kind != TallyKind::Last => {
                let at = layout.strings + HEADER + n * layout.string_bytes;
                [self.word(at) as u64, self.word(at + 8) as u64]
            }
            _ => [0, 0],
        }
    }

    /// The string of a number that `VeneerProbe.text` returned: 0 for `null`, negative for a string
    /// that did not fit into the table.
    fn string(&self, layout: &TableLayout, number: i32) -> Option<String> {
        match number {
            0 => None,
            n if n > 0 && layout.kind == TallyKind::Last => self.ring_string(layout, n as u64),
            n if n > 0 => self.stored_string(layout, n as u64 - 1),
            _ => Some("(a string for which there was no room)".into()),
        }
    }

    /// The string of a `last` table with this number. The ring may have another string there by now.
    fn ring_string(&self, layout: &TableLayout, number: u64) -> Option<String> {
        let slot = (number - 1) % layout.string_slots.max(1);
        let state = layout.strings + HEADER + slot * layout.string_bytes;
        let expected = i64::try_from(number + 1).ok();
        let has_string = || Some(self.word(state)) == expected;
        let text = has_string().then(|| self.characters(layout, slot));
        match text.filter(|_| has_string()) {
            Some(text) => Some(text),
            None => Some("(a string that was overwritten)".into()),
        }
    }

    fn stored_string(&self, layout: &TableLayout, slot: u64) -> Option<String> {
        (slot < layout.string_slots).then(|| self.characters(layout, slot))
    }

    /// The characters in a slot for strings.
    fn characters(&self, layout: &TableLayout, slot: u64) -> String {
        let at = layout.strings + HEADER + slot * layout.string_bytes;
        let form = self.word(at + 8) as u64;
        let is_wide = form >> 32 != 0;
        let most = match layout.kind {
            TallyKind::Last => (layout.string_bytes - STRING_HEADER) >> u32::from(is_wide),
            _ => STRING_CHARS,
        };
        let length = (form & 0xffff_ffff).min(most) as usize;
        if !is_wide {
            // ISO 8859-1: a byte is the number of its character.
            let bytes = self.file.copy(at + STRING_HEADER, length);
            return bytes.iter().map(|b| char::from(*b)).collect();
        }
        let bytes = self.file.copy(at + STRING_HEADER, 2 * length);
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|b| u16::from_ne_bytes([b[0], b[1]]))
            .collect();
        String::from_utf16_lossy(&units)
    }
}
