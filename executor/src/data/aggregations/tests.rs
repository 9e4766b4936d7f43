//! Unit tests of the tables. [`Writer`] writes entries at the offsets that `VeneerTables` and
//! `VeneerTexts` use.

use super::*;
use crate::data::monotonic::monotonic;
use crate::data::scratch::ScratchDirectory;
use veneer_instruments::{LinearBuckets, RATE_RING_SECONDS, Rate, Tally, TallyEntry, TallyKey};
use veneer_names::CounterSlot;

struct Fixture {
    _directory: ScratchDirectory,
    shards: Shards,
    tallies: Tallies,
}

impl Fixture {
    fn new() -> Fixture {
        let directory = ScratchDirectory::new();
        Fixture {
            shards: Shards::create(&directory.join("counters")).expect("shards"),
            tallies: Tallies::create(&directory.join("tallies")).expect("tallies"),
            _directory: directory,
        }
    }

    fn table(&self, kind: TallyKind, entries: u32) -> Writer<'_> {
        let number = self.tallies.create_table(&self.shards, kind, entries);
        let number = number.expect("a table");
        let address = self.tallies.address(number);
        // As in `VeneerTables.at`.
        let address = address << 16 >> 16 & -64;
        Writer {
            fixture: self,
            number,
            offset: (address - self.tallies.file.address()) as u64,
        }
    }
}

struct Writer<'f> {
    fixture: &'f Fixture,
    number: u32,
    offset: u64,
}

impl Writer<'_> {
    fn header(&self, offset: u64) -> i64 {
        self.fixture.tallies.word(self.offset + offset)
    }

    fn set(&self, offset: u64, value: i64) {
        let word = self.fixture.tallies.file.word(self.offset + offset);
        word.store(value, Ordering::Release);
    }

    /// The offset of entry `n` in the table; entry 0 is the rest.
    fn entry(&self, n: u64) -> u64 {
        64 + n * self.header(8) as u64
    }

    /// Writes an entry: state, tags and the first keys.
    fn write(&self, n: u64, state: i64, tags: i64, keys: &[i64]) {
        let at = self.entry(n);
        self.set(at + 8, tags);
        for (k, key) in keys.iter().enumerate() {
            self.set(at + 16 + 8 * k as u64, *key);
        }
        self.set(at, state);
    }

    fn set_value(&self, n: u64, value: u64, to: i64) {
        self.set(self.entry(n) + 48 + 8 * value, to);
    }

    /// Adds to a value as a thread with a shard of its own does.
    fn add_thread_local(&self, tid: i64, n: u64, value: u64, by: i64) {
        let shards = &self.fixture.shards;
        let words = (self.header(8) as u64 - 48) / 8;
        let part = self.header(40);
        assert!(part >= 0, "the table has no thread-local parts");
        let slot = part as u64 / 8 + n * words + value;
        let slot = CounterSlot(slot as u32);
        shards.add_as_java(shards.assign(tid, false), slot, by);
    }

    /// Writes a string and returns its number. UTF-16 if a character needs it.
    fn string(&self, slot: u64, text: &str, length: u64) -> i64 {
        let strings = self.header(32) - self.fixture.tallies.file.address();
        let at = strings as u64 - self.offset + 64 + slot * 144;
        let is_wide = text.chars().any(|c| c as u32 > 255);
        let bytes: Vec<u8> = match is_wide {
            true => text.encode_utf16().flat_map(u16::to_ne_bytes).collect(),
            false => text.chars().map(|c| c as u8).collect(),
        };
        for (n, word) in bytes.chunks(8).enumerate() {
            let mut padded = [0; 8];
            padded[..word.len()].copy_from_slice(word);
            self.set(at + 16 + 8 * n as u64, i64::from_ne_bytes(padded));
        }
        self.set(at + 8, (length | u64::from(is_wide) << 32) as i64);
        self.set(at, 0x1234);
        slot as i64 + 1
    }

    fn read(&self) -> Tally {
        let fixture = self.fixture;
        let mut tally = fixture.tallies.read(&fixture.shards, self.number, 1_000);
        tally.sort();
        tally
    }

    fn clear(&self) {
        self.fixture
            .tallies
            .clear(&self.fixture.shards, self.number);
    }
}

fn counts(tally: &Tally) -> Vec<(Vec<TallyKey>, u64)> {
    let entry = |e: &TallyEntry| (e.keys.clone(), e.count);
    tally.entries.iter().map(entry).collect()
}

#[test]
fn the_header_has_the_layout_that_java_reads() {
    let fixture = Fixture::new();
    let first = fixture.table(TallyKind::Count, 10);
    let second = fixture.table(TallyKind::Sums, 100);
    assert_eq!([0, 8, 16, 24].map(|n| first.header(n)), [16, 56, 10, 0]);
    assert_eq!([0, 8, 16, 24].map(|n| second.header(n)), [256, 80, 100, 0]);
    // The strings follow the table: the number of slots, and the most strings.
    let strings = second.header(32) - fixture.tallies.file.address() - second.offset as i64;
    assert_eq!(strings, 64 + 257 * 80);
    let strings = strings as u64;
    assert_eq!(
        [0, 8, 16].map(|n| second.header(strings + n)),
        [256, 100, 0]
    );
    // The tables do not overlap, and each begins at a page.
    assert_eq!((first.offset, second.offset % 4096), (0, 0));
    assert!(second.offset as i64 >= 64 + 17 * 56 + 64 + 16 * 144);
}

#[test]
fn the_constant_of_a_table_packs_address_slots_and_string_row() {
    let fixture = Fixture::new();
    let tallies = &fixture.tallies;
    let address = |table: &Writer| tallies.file.address() + table.offset as i64;
    let count = fixture.table(TallyKind::Count, 100);
    assert_eq!(tallies.address(count.number), address(&count) | 8);
    assert_eq!(tallies.slots(count.number), 1 << 8);
    assert_eq!(tallies.identity_string_slots(count.number), Some(256));
    tallies.set_string_row(count.number, 5);
    let constant = tallies.address(count.number);
    assert_eq!(constant as u64 >> 48, 5);
    assert_eq!(constant << 16 >> 16 & -64, address(&count));
    // Tables without keyed entries have the bare address, and no strings by identity.
    let last = fixture.table(TallyKind::Last, 100);
    assert_eq!(tallies.address(last.number), address(&last));
    assert_eq!(tallies.identity_string_slots(last.number), None);
    // 100,000 string slots are too many for an array on the Java heap.
    let large = fixture.table(TallyKind::Count, MAX_ENTRIES);
    assert_eq!(tallies.identity_string_slots(large.number), None);
    assert_eq!(tallies.address(99), 0);
}

#[test]
fn keys_of_all_kinds_are_decoded() {
    let fixture = Fixture::new();
    let table = fixture.table(TallyKind::Count, 10);
    table.write(1, 99, 0x321, &[-5, 1.5_f64.to_bits() as i64, 1]);
    table.set_value(1, 0, 9);
    let short = table.string(0, "caf\u{e9}", 4);
    let wide = table.string(1, "\u{4f60}\u{597d}", 2);
    table.write(2, 98, 0x5544, &[short, wide, 0xabcd, 0]);
    table.set_value(2, 0, 8);
    table.write(
        3,
        94,
        0x5454,
        &[-1, 0xffff_ffff | 1 << 32, 0, short | 1 << 32],
    );
    table.set_value(3, 0, 7);
    let read = counts(&table.read());
    let text = |text: &str| TallyKey::Text(Some(text.into()));
    let no_room = text("(a string for which there was no room)");
    assert_eq!(
        read[0].0,
        [
            TallyKey::Integer(-5),
            TallyKey::Float(1.5),
            TallyKey::Bool(true)
        ]
    );
    assert_eq!(
        read[1].0,
        [
            text("caf\u{e9}"),
            text("\u{4f60}\u{597d}"),
            TallyKey::Object(0xabcd),
            TallyKey::Object(0)
        ]
    );
    // A text is the number of a string; an object is one if bit 32 is set.
    assert_eq!(
        read[2].0,
        [
            no_room.clone(),
            no_room,
            TallyKey::Text(None),
            text("caf\u{e9}")
        ]
    );
}

#[test]
fn a_string_key_shows_64_characters_and_is_marked_by_hash_and_length() {
    let fixture = Fixture::new();
    let table = fixture.table(TallyKind::Count, 10);
    let number = table.string(3, &"x".repeat(64), 1_000);
    table.write(1, 99, 4, &[number]);
    table.set_value(1, 0, 1);
    table.write(2, 98, 4, &[1_000_000]);
    table.set_value(2, 0, 1);
    let read = table.read();
    let long = read.entries.iter().find(|e| e.marks == [[0x1234, 1_000]]);
    assert_eq!(
        long.expect("the string").keys,
        [TallyKey::Text(Some("x".repeat(64)))]
    );
    let unknown = read.entries.iter().find(|e| e.marks == [[0, 0]]);
    assert_eq!(
        unknown.expect("a string beyond the table").keys,
        [TallyKey::Text(None)]
    );
}

#[test]
fn free_and_unfinished_slots_are_no_entries() {
    let fixture = Fixture::new();
    let table = fixture.table(TallyKind::Count, 10);
    for (n, state, count) in [(1, 0, 5), (2, 1, 5), (3, 77, 0), (4, -77, 5)] {
        table.write(n, state, 1, &[n as i64]);
        table.set_value(n, 0, count);
    }
    table.set_value(0, 0, 3);
    let read = table.read();
    assert_eq!(counts(&read), [(vec![TallyKey::Integer(4)], 5)]);
    assert_eq!(read.rest.count, 3);
}

#[test]
fn values_are_the_sum_of_the_table_and_of_all_threads() {
    let fixture = Fixture::new();
    // Another table comes first, so that the parts do not begin at slot 0.
    let _other = fixture.table(TallyKind::Count, 10);
    let table = fixture.table(TallyKind::Sums, 10);
    table.write(3, 99, 1, &[7]);
    // A thread without a shard has added 1 value, and extremes are kept in the table.
    table.set_value(3, 0, 1);
    table.set_value(3, 1, -4);
    table.set_value(3, 2, 20 ^ i64::MIN);
    table.set_value(3, 3, !(-4 ^ i64::MIN));
    for (tid, value) in [(1, 20), (2, 5)] {
        table.add_thread_local(tid, 3, 0, 1);
        table.add_thread_local(tid, 3, 1, value);
        table.add_thread_local(tid, 0, 0, 10);
    }
    let read = table.read();
    let entry = &read.entries[0];
    assert_eq!(
        (entry.count, entry.sum, entry.min, entry.max),
        (3, 21, -4, 20)
    );
    assert_eq!(read.rest.count, 20);
}

#[test]
fn a_cleared_table_counts_from_zero_though_threads_keep_their_parts() {
    let fixture = Fixture::new();
    let table = fixture.table(TallyKind::Count, 10);
    table.write(1, 99, 1, &[7]);
    table.set_value(1, 0, 4);
    table.add_thread_local(1, 1, 0, 100);
    assert_eq!(counts(&table.read()), [(vec![TallyKey::Integer(7)], 104)]);
    table.clear();
    assert_eq!(table.read(), Tally::default());
    table.add_thread_local(1, 1, 0, 2);
    table.add_thread_local(2, 1, 0, 1);
    assert_eq!(counts(&table.read()), [(vec![TallyKey::Integer(7)], 3)]);
    table.clear();
    table.clear();
    assert_eq!(table.read(), Tally::default());
}

#[test]
fn a_histogram_ends_with_its_last_bucket_and_linear_buckets_are_complete() {
    let fixture = Fixture::new();
    let histogram = fixture.table(TallyKind::Histogram, 10);
    histogram.write(1, 99, 1, &[1]);
    for (value, n) in [(0, 3), (4, 2), (4 + 5, 1)] {
        histogram.set_value(1, value, n);
    }
    assert_eq!(histogram.read().entries[0].buckets, [2, 0, 0, 0, 0, 1]);
    let linear = LinearBuckets::new(-10, 5, 3).expect("buckets");
    let table = fixture.table(TallyKind::Linear(linear), 10);
    assert_eq!([48, 56].map(|n| table.header(n)), [-10, 5]);
    table.write(1, 99, 1, &[1]);
    table.set_value(1, 0, 1);
    table.add_thread_local(1, 1, 4 + 2, 1);
    assert_eq!(table.read().entries[0].buckets, [0, 0, 1, 0, 0]);
}

#[test]
fn wide_tables_and_kinds_that_are_no_sums_have_no_thread_local_parts() {
    let fixture = Fixture::new();
    assert!(fixture.table(TallyKind::Count, 10_000).header(40) < 0);
    for kind in [
        TallyKind::Rate,
        TallyKind::Top,
        TallyKind::Last,
        TallyKind::Distinct,
    ] {
        assert!(fixture.table(kind, 10).header(40) < 0, "{kind:?}");
    }
    assert_eq!(fixture.shards.used_slots(), 0);
    // All tables together use a quarter of the counters at most.
    let mut tables = 0_u64;
    while fixture.table(TallyKind::Count, 6_000).header(40) >= 0 {
        tables += 1;
    }
    assert_eq!(tables, SLOTS_PER_QUARTER / 8_193);
    assert_eq!(fixture.shards.used_slots(), tables * 8_193);
}

const SLOTS_PER_QUARTER: u64 = crate::data::shards::SLOTS / 4;

#[test]
fn entries_that_are_being_written_have_no_keys_yet() {
    let fixture = Fixture::new();
    let table = fixture.table(TallyKind::Count, 4);
    table.write(1, 99, 1, &[7]);
    table.write(2, 8 << 3 | 1, 1, &[0]);
    for n in 1..=2 {
        table.set_value(n, 0, 5);
    }
    let read = table.read();
    assert_eq!(counts(&read), [(vec![TallyKey::Integer(7)], 5)]);
}

#[test]
fn the_most_frequent_keys_have_an_error_and_busy_slots_count_as_rest() {
    let fixture = Fixture::new();
    let table = fixture.table(TallyKind::Top, 2);
    assert_eq!(table.header(0), 16);
    table.write(1, 99, 1, &[7]);
    table.set_value(1, 0, 50);
    table.set_value(1, 1, 20);
    // A clear is under way: the count is gone and the error is not yet.
    table.write(2, 98, 1, &[8]);
    table.set_value(2, 0, 3);
    table.set_value(2, 1, 20);
    // A thread that was stopped while it reassigned this slot.
    table.write(3, 1, 1, &[9]);
    table.set_value(3, 0, 4);
    table.set_value(0, 0, 10);
    let read = table.read();
    let found: Vec<_> = read.entries.iter().map(|e| (e.count, e.error)).collect();
    assert_eq!(found, [(50, 20), (3, 3)]);
    assert_eq!(read.rest.count, 14);
    // A clear leaves the lock of a group to the thread that holds it.
    table.set_value(1, 2, 1);
    table.clear();
    assert_eq!(table.read(), Tally::default());
    assert_eq!(
        fixture
            .tallies
            .word(table.offset + table.entry(1) + 48 + 16),
        1
    );
}

#[test]
fn a_rate_has_the_seconds_of_its_ring() {
    let fixture = Fixture::new();
    let table = fixture.table(TallyKind::Rate, 10);
    let second = 1_000_000;
    table.write(1, 99, 1, &[7]);
    table.set_value(1, 0, 30);
    table.set_value(1, 1, second as i64 + 1);
    for (second, count) in [
        (second, 10),
        (second + 1, 20),
        (second - RATE_RING_SECONDS + 2, 9),
    ] {
        table.set_value(
            1,
            2 + second % RATE_RING_SECONDS,
            (second << 32 | count) as i64,
        );
    }
    let before = monotonic() / 1_000_000_000;
    let read = table.read();
    let after = monotonic() / 1_000_000_000;
    let rate = read.entries[0].rate.clone().expect("a rate");
    assert_eq!((rate.first, read.entries[0].count), (second, 30));
    assert!((before..=after).contains(&rate.now));
    let mut seconds = rate.seconds.clone();
    seconds.sort_unstable();
    assert_eq!(
        seconds,
        [
            (second - RATE_RING_SECONDS + 2, 9),
            (second, 10),
            (second + 1, 20)
        ]
    );
    // Five seconds later, the oldest second is outside the window of 60 seconds.
    let later = Rate {
        now: second + 5,
        ..rate
    };
    assert_eq!(later.counts_by_age().len(), 2);
    assert_eq!(later.complete_seconds(60), 5);
    // While the first value is being counted, its second is not known yet.
    table.set_value(1, 1, 0);
    let rate = table.read().entries[0].rate.clone().expect("a rate");
    assert_eq!(rate.first, rate.now);
}

#[test]
fn the_latest_values_are_numbered_from_the_last_clear() {
    let fixture = Fixture::new();
    let table = fixture.table(TallyKind::Last, 4);
    assert_eq!(table.header(0), 4);
    let put = |number: i64, value: i64| {
        let n = number as u64 % 4 + 1;
        table.set_value(n, 0, 1_000 + 10 * number);
        table.set_value(n, 1, 77);
        table.write(n, number + 2, 1, &[value]);
        table.set(24, number + 1);
    };
    (0..6).for_each(|n| put(n, 100 + n));
    let read = table.read();
    assert_eq!(read.given, Some(6));
    let mut found: Vec<_> = read
        .entries
        .iter()
        .filter_map(|e| e.at.map(|at| (at, e)))
        .collect();
    found.sort_by_key(|(at, _)| at.number);
    assert_eq!(
        found.iter().map(|(at, _)| at.number).collect::<Vec<_>>(),
        [2, 3, 4, 5]
    );
    assert_eq!((found[0].0.time_ns, found[0].0.thread_id), (20, 77));
    assert_eq!(found[0].1.keys, [TallyKey::Integer(102)]);
    // A slot that a thread is writing survives the clear; it holds something newer.
    let busy = 3;
    table.set(table.entry(busy), 1);
    table.clear();
    assert_eq!(table.read().given, Some(0));
    assert_eq!(table.read().entries.len(), 0);
    assert_eq!(fixture.tallies.word(table.offset + table.entry(busy)), 1);
    put(6, 200);
    let read = table.read();
    assert_eq!((read.given, read.entries.len()), (Some(1), 1));
    assert_eq!(read.entries[0].at.map(|at| at.number), Some(0));
    // An entry of the time before the clear that a slow thread has finished only now.
    table.write(2, 5 + 2, 1, &[105]);
    assert_eq!(table.read().entries.len(), 1);
}

#[test]
fn strings_of_the_latest_values_are_long_and_know_whether_they_were_overwritten() {
    let fixture = Fixture::new();
    let table = fixture.table(TallyKind::Last, 4);
    let strings = table.header(32) - fixture.tallies.file.address() - table.offset as i64;
    let strings = strings as u64;
    // 4 entries have 32 strings of 256 bytes.
    assert_eq!([0, 24].map(|n| table.header(strings + n)), [32, 240]);
    // The string number 34 is in slot 1.
    let at = strings + 64 + 256;
    for word in 0..30 {
        table.set(at + 16 + 8 * word, i64::from_ne_bytes(*b"abcdefgh"));
    }
    table.set(at + 8, 1_000);
    table.set(at, 34 + 1);
    table.set_value(1, 2, 34);
    table.write(1, 2, 4 | 4 << 4, &[34, 2]);
    table.set(24, 1);
    let read = table.read();
    let long = "abcdefgh".repeat(30);
    assert_eq!(
        read.entries[0].keys,
        [
            TallyKey::Text(Some(long.clone())),
            TallyKey::Text(Some("(a string that was overwritten)".into()))
        ]
    );
    assert_eq!(read.entries[0].thread_name.as_ref(), Some(&long));
    // The largest table fits into the file.
    assert!(
        fixture
            .tallies
            .create_table(&fixture.shards, TallyKind::Last, MAX_ENTRIES)
            .is_some()
    );
}

#[test]
fn a_sample_counts_the_combinations_that_were_not_drawn() {
    let fixture = Fixture::new();
    let (one, two) = (
        fixture.table(TallyKind::Sample, 3),
        fixture.table(TallyKind::Sample, 3),
    );
    assert_ne!(one.header(48), two.header(48), "the seeds differ");
    one.set(24, 1_000);
    for n in 1..=2 {
        one.write(n, 500 + n as i64, 1, &[n as i64]);
    }
    let read = one.read();
    assert_eq!(
        (read.given, read.entries.len(), read.rest.count),
        (Some(1_000), 2, 998)
    );
}

#[test]
fn cells_are_distinct_zero_and_ignored_outside_the_file() {
    let fixture = Fixture::new();
    let tallies = &fixture.tallies;
    let cells: Vec<i64> = (0..300).filter_map(|_| tallies.allocate_cells()).collect();
    let mut sorted = cells.clone();
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|two| two[1] - two[0] >= 16));
    assert_eq!(sorted.len(), 300);
    tallies.set_cell(cells[7] + 8, 41);
    tallies.set_cell(cells[8], -3);
    assert_eq!(
        [cells[7], cells[7] + 8, cells[8]].map(|at| tallies.cell(at)),
        [0, 41, 0]
    );
    // A table does not overlap the pages of cells.
    let table = fixture.table(TallyKind::Count, 10);
    assert!(table.offset + tallies.file.address() as u64 > sorted[299] as u64);
    let end = tallies.file.address() + tallies.file.len() as i64;
    for outside in [0, -1, i64::MIN, i64::MAX, end, end - 4, cells[0] + 4] {
        tallies.set_cell(outside, 5);
        assert_eq!(tallies.cell(outside), 0);
    }
}

#[test]
fn labels_are_shown_without_tables_that_only_probes_read() {
    let fixture = Fixture::new();
    let tallies = &fixture.tallies;
    let count = fixture.table(TallyKind::Count, 10).number;
    let objects = tallies.add_object_table(42);
    let stack = fixture.table(TallyKind::Numbers, 10).number;
    let label = |plan: &str, name: Option<&str>| TableLabel {
        plan: plan.into(),
        name: name.map(Into::into),
        is_call_tree: plan == "b.rhai",
    };
    tallies.label(count, label("b.rhai", None));
    tallies.label(count, label("a.rhai", Some("cost")));
    tallies.label(count, label("b.rhai", None));
    tallies.label(99, label("c.rhai", None));
    let shown = tallies.labelled_tables();
    assert_eq!(
        shown,
        [(count, TallyKind::Count, label("b.rhai", Some("cost")))]
    );
    assert_eq!(
        [count, objects, stack].map(|n| tallies.object_table_number(n)),
        [None, Some(42), None]
    );
    assert_eq!(tallies.address(objects), 42);
    for own in [objects, stack, 99] {
        assert_eq!(tallies.read(&fixture.shards, own, 0), Tally::default());
        tallies.clear(&fixture.shards, own);
    }
}

#[test]
fn a_full_file_has_no_room_for_another_table() {
    let fixture = Fixture::new();
    let make = |entries| {
        fixture
            .tallies
            .create_table(&fixture.shards, TallyKind::Rate, entries)
    };
    // 131,072 slots of 576 bytes, and strings: three of them fit into 256 MiB.
    let huge = (0..9).map_while(|_| make(MAX_ENTRIES)).count();
    assert!((1..9).contains(&huge), "{huge}");
    assert!(make(10).is_some(), "a small table still fits");
}

/// The numbers of attached tables.
fn attached(numbers: &[u32]) -> HashSet<u32> {
    numbers.iter().copied().collect()
}

#[test]
fn the_room_of_a_table_comes_back_when_nothing_has_the_table() {
    let fixture = Fixture::new();
    let tallies = &fixture.tallies;
    let never = |_: &WeakGlobal| -> bool { panic!("no table has a writer") };
    let make = || fixture.table(TallyKind::Count, 1_000);
    let (first, second, third) = (make(), make(), make());
    let offset = second.offset;
    second.write(3, 78, 1, &[5]);
    second.add_thread_local(1, 3, 0, 6);
    assert_eq!(second.read().entries.len(), 1);
    // The plan still has the table.
    assert_eq!(tallies.reclaim(&attached(&[]), &never), 0);
    for table in [first.number, second.number] {
        tallies.drop_table(table);
    }
    tallies.drop_table(99);
    let counts = |in_use, left_behind| TableCounts {
        in_use,
        left_behind,
    };
    assert_eq!(tallies.table_counts(&attached(&[])), counts(1, 2));
    // An attached instrument has the first one.
    let held = attached(&[first.number]);
    assert_eq!(tallies.table_counts(&held), counts(2, 1));
    assert!(tallies.left_behind_bytes(&held) < tallies.left_behind_bytes(&attached(&[])));
    assert_eq!(
        second.read().entries.len(),
        1,
        "the content stays until then"
    );
    assert_eq!(tallies.reclaim(&held, &never), 1);
    assert_eq!(second.read(), Tally::default());
    assert_eq!(tallies.address(second.number), 0);
    assert_eq!(tallies.table_counts(&held), counts(2, 0));
    // The next table has the same room and counters, and begins with nothing.
    let fourth = make();
    assert_eq!(
        (fourth.offset, fourth.header(40)),
        (offset, second.header(40))
    );
    assert_ne!(fourth.number, second.number);
    fourth.write(3, 78, 1, &[5]);
    assert_eq!(
        fourth.read().entries.len(),
        0,
        "counts of the former table are gone"
    );
    fourth.add_thread_local(1, 3, 0, 2);
    assert_eq!(counts_of(&fourth), [2]);
    assert!(third.offset > offset);
}

fn counts_of(table: &Writer) -> Vec<u64> {
    table.read().entries.iter().map(|e| e.count).collect()
}

#[test]
fn a_thousand_tables_in_turn_need_the_room_of_one() {
    let fixture = Fixture::new();
    let never = |_: &WeakGlobal| -> bool { panic!("no table has a writer") };
    let mut offsets = HashSet::new();
    for kind in [
        TallyKind::Count,
        TallyKind::Last,
        TallyKind::Top,
        TallyKind::Rate,
    ] {
        for _ in 0..250 {
            let table = fixture.table(kind, 1_000);
            offsets.insert(table.offset);
            fixture.tallies.drop_table(table.number);
            assert_eq!(fixture.tallies.reclaim(&attached(&[]), &never), 1);
        }
    }
    assert_eq!(offsets, HashSet::from([0]));
    assert!(fixture.tallies.labelled_tables().is_empty());
}

#[test]
fn an_abandoned_table_takes_neither_room_nor_blocks_and_comes_back_without_its_writers() {
    let fixture = Fixture::new();
    let tallies = &fixture.tallies;
    let (kept, left) = (
        fixture.table(TallyKind::Count, 1_000),
        fixture.table(TallyKind::Count, 1_000),
    );
    left.write(3, 78, 1, &[5]);
    let headers = [0, 8, 16, 32, 40].map(|offset| left.header(offset));
    tallies.drop_table(left.number);
    assert_eq!(
        tallies.abandon(&attached(&[left.number])),
        0,
        "an instrument has it"
    );
    assert_eq!(tallies.abandon(&attached(&[])), 1);
    assert_eq!(tallies.abandon(&attached(&[])), 0);
    assert_eq!(tallies.left_behind_bytes(&attached(&[])), 0);
    let counts = tallies.table_counts(&attached(&[]));
    assert_eq!((counts.in_use, counts.left_behind), (1, 1));
    assert_eq!(
        (left.read(), tallies.address(left.number)),
        (Tally::default(), 0)
    );
    // Code that still runs finds the sizes, and may write.
    assert_eq!(
        [0, 8, 16, 32, 40].map(|offset| left.header(offset)),
        headers
    );
    left.write(4, 78, 1, &[6]);
    // The addresses stay taken until then.
    assert_ne!(fixture.table(TallyKind::Count, 1_000).offset, left.offset);
    assert_eq!(tallies.reclaim(&attached(&[]), &|_| true), 1);
    let next = fixture.table(TallyKind::Count, 1_000);
    assert_eq!(next.offset, left.offset);
    assert_eq!(next.read().entries.len(), 0);
    assert_eq!(kept.read().entries.len(), 0);
}

#[test]
#[cfg_attr(miri, ignore = "the file of tables is small under Miri")]
fn many_times_the_room_is_there_for_tables_whose_code_is_never_collected() {
    let fixture = Fixture::new();
    let tallies = &fixture.tallies;
    let (mut offsets, mut bytes) = (HashSet::new(), 0);
    while bytes < 3 * ROOM_BYTES {
        let table = fixture.table(TallyKind::Sums, 10_000);
        table.write(3, 78, 1, &[5]);
        assert!(
            offsets.insert(table.offset),
            "{} is used twice",
            table.offset
        );
        tallies.drop_table(table.number);
        bytes += tallies.left_behind_bytes(&attached(&[]));
        assert_eq!(tallies.abandon(&attached(&[])), 1);
    }
    assert_eq!(
        tallies.table_counts(&attached(&[])).left_behind,
        offsets.len()
    );
}

#[test]
fn rows_of_strings_are_used_again_by_tables_with_as_many_strings() {
    let fixture = Fixture::new();
    let tallies = &fixture.tallies;
    let table = fixture.table(TallyKind::Count, 100).number;
    let slots = tallies.identity_string_slots(table).expect("few strings");
    tallies.set_string_row(table, 7);
    assert_eq!(tallies.take_free_string_row(slots), None);
    tallies.drop_table(table);
    tallies.reclaim(&attached(&[]), &|_| true);
    assert_eq!(tallies.take_free_string_row(2 * slots), None);
    assert_eq!(tallies.take_free_string_row(slots), Some(7));
    assert_eq!(tallies.take_free_string_row(slots), None);
}

#[test]
fn tables_with_arrays_on_the_heap_stay() {
    let fixture = Fixture::new();
    let tallies = &fixture.tallies;
    let objects = fixture.table(TallyKind::Objects, 10).number;
    let of_objects = tallies.add_object_table(3);
    for table in [objects, of_objects] {
        tallies.drop_table(table);
    }
    assert_eq!(tallies.reclaim(&attached(&[]), &|_| true), 0);
    assert_eq!(tallies.object_table_number(of_objects), Some(3));
}
