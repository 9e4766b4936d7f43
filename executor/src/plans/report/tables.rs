//! The tallies in the report. A *tally* is an aggregation map that probes fill.
//!
//! A report for a client is one message, and the size of messages is limited. So the tallies share a
//! number of bytes, and each tally omits the entries that do not fit: the least frequent ones, or the
//! oldest ones of `last` and `sample`.

use std::cmp::{Ordering, Reverse};

use crate::agent::Agent;
use crate::data::aggregations::TableLabel;
use serde_json::Value;
use veneer_instruments::{Tally, TallyEntry, TallyKey, TallyKind};
use veneer_protocol::{Table, TableEntry, TableKind};

/// The most bytes of JSON, by estimate, of all entries of a report in a message. The rest of the
/// message is left to everything else.
pub const MAX_MESSAGE_BYTES: usize = 6 << 20;
/// The most bytes of JSON, by estimate, of all entries of a report in a file.
pub const MAX_FILE_BYTES: usize = 64 << 20;
/// The estimated bytes of an entry without its texts and buckets.
const ENTRY_BYTES: usize = 160;
/// The estimated bytes of a bucket.
const BUCKET_BYTES: usize = 80;
/// The estimated bytes of a second of a rate.
const SECOND_BYTES: usize = 30;

/// A table with the estimated bytes of its entries.
struct SizedTable {
    table: Table,
    bytes: usize,
}

/// Returns the current content of all tables that have a form in the report, with at most `room`
/// bytes of entries.
pub fn make_tables(agent: &Agent, room: usize) -> Vec<Table> {
    let attached = agent.table.lock().tables_of_attached_code();
    let sized = |(number, kind, label): (u32, TallyKind, TableLabel)| {
        let now = agent.tallies.read(&agent.shards, number, agent.nano_began);
        // The entries are reduced at once: a table with all its entries may be large.
        let mut sized = sized_table(number, kind, label, room, now)?;
        sized.table.attached = attached.contains(&number);
        Some(sized)
    };
    let shown = agent.tallies.labelled_tables().into_iter();
    let mut all: Vec<SizedTable> = shown.filter_map(sized).collect();
    share_room(&mut all, room);
    all.into_iter().map(|sized| sized.table).collect()
}

/// The report's form of one table, with as many entries as `max_bytes` allows. Returns `None` for a
/// table that only probes can read.
fn sized_table(
    number: u32,
    kind: TallyKind,
    label: TableLabel,
    max_bytes: usize,
    now: Tally,
) -> Option<SizedTable> {
    let table_kind = TableKind::of_function(kind.plan_function())?;
    let now = match kind {
        TallyKind::Distinct => now.count_distinct(),
        _ => now,
    };
    let mut room = max_bytes;
    let (entries, omitted) = fitting_entries(now.entries, kind, &mut room);
    Some(SizedTable {
        table: Table {
            id: format!("t{}", u64::from(number) + 1),
            name: label
                .name
                .unwrap_or_else(|| table_kind.plan_function().into()),
            kind: table_kind,
            plan: label.plan,
            call_tree: label.is_call_tree,
            attached: false,
            entries,
            omitted,
            rest: now.rest.metrics_of_rest(kind),
        },
        bytes: max_bytes - room,
    })
}

/// Truncates tables to `room` bytes together. Small tables are kept whole, and the others share the
/// remaining room equally.
fn share_room(all: &mut [SizedTable], mut room: usize) {
    let mut smallest_first: Vec<&mut SizedTable> = all.iter_mut().collect();
    smallest_first.sort_by_key(|sized| sized.bytes);
    let count = smallest_first.len();
    for (done, sized) in smallest_first.into_iter().enumerate() {
        let share = room / (count - done);
        if sized.bytes > share {
            let table = &mut sized.table;
            // The entries of a table have keys of the same kinds, so they are of similar size.
            let keep = table.entries.len() * share / sized.bytes.max(1);
            let omitted = table.entries.len() - keep;
            table.omitted += omitted as u64;
            match table.kind {
                TableKind::Last | TableKind::Sample => drop(table.entries.drain(..omitted)),
                _ => table.entries.truncate(keep),
            }
            sized.bytes = share;
        }
        room -= sized.bytes;
    }
}

/// The order in which entries get room: the latest first for `last` and `sample`, otherwise by the
/// number of different values, then by count, both descending, then by keys.
fn by_importance(kind: TallyKind, a: &TallyEntry, b: &TallyEntry) -> Ordering {
    if kind.has_occurrences() {
        return Reverse(a.at).cmp(&Reverse(b.at));
    }
    let keys = a.keys.partial_cmp(&b.keys).unwrap_or(Ordering::Equal);
    let larger = b.distinct.cmp(&a.distinct);
    larger.then(b.count.cmp(&a.count)).then(keys)
}

/// Returns the most important entries that fit into `room` bytes, and the number of the others.
/// Subtracts the bytes of the entries from `room`.
fn fitting_entries(
    mut all: Vec<TallyEntry>,
    kind: TallyKind,
    room: &mut usize,
) -> (Vec<TableEntry>, u64) {
    all.sort_by(|a, b| by_importance(kind, a, b));
    let count = all.len() as u64;
    let mut shown: Vec<TableEntry> = Vec::new();
    for entry in all {
        let bytes = estimated_bytes(&entry, kind);
        if bytes > *room {
            break;
        }
        *room -= bytes;
        shown.push(TableEntry {
            keys: entry.keys.iter().map(key).collect(),
            figures: entry.metrics(kind),
        });
    }
    let omitted = count - shown.len() as u64;
    if kind.has_occurrences() {
        shown.reverse();
    }
    (shown, omitted)
}

/// The estimated bytes of an entry in JSON. Texts count double, because a character that JSON
/// escapes can take up to six bytes.
fn estimated_bytes(entry: &TallyEntry, kind: TallyKind) -> usize {
    let texts = entry.keys.iter().map(|key| match key {
        TallyKey::Text(Some(text)) => 2 * text.len(),
        TallyKey::Stack(lines) => lines.iter().map(|line| line.len() + 3).sum(),
        _ => 0,
    });
    let buckets = match kind {
        TallyKind::Linear(_) => entry.buckets.len(),
        _ => entry.buckets.iter().filter(|n| **n > 0).count(),
    };
    let seconds = entry.rate.as_ref().map_or(0, |rate| rate.seconds.len());
    ENTRY_BYTES + texts.sum::<usize>() + BUCKET_BYTES * buckets + SECOND_BYTES * seconds
}

/// The JSON form of a key. NaN and infinities are texts, because JSON has no such numbers.
fn key(key: &TallyKey) -> Value {
    match key {
        TallyKey::Integer(n) => Value::from(*n),
        TallyKey::Float(x) if x.is_finite() => Value::from(*x),
        TallyKey::Bool(b) => Value::from(*b),
        TallyKey::Text(Some(text)) => Value::from(text.as_str()),
        TallyKey::Text(None) | TallyKey::Object(0) => Value::Null,
        TallyKey::Stack(lines) => Value::from(lines.as_slice()),
        other @ (TallyKey::Float(_) | TallyKey::Object(_)) => Value::from(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_instruments::{EntryMetrics, LinearBuckets, Occurrence, Rate};

    fn entry(key: i64, count: u64) -> TallyEntry {
        TallyEntry {
            keys: vec![TallyKey::Integer(key)],
            count,
            ..TallyEntry::default()
        }
    }

    fn recorded(key: i64, number: u64) -> TallyEntry {
        TallyEntry {
            at: Some(Occurrence {
                number,
                time_ns: 10 * number,
                thread_id: 1,
            }),
            ..entry(key, 1)
        }
    }

    fn tally(entries: Vec<TallyEntry>) -> Tally {
        Tally {
            entries,
            ..Tally::default()
        }
    }

    /// A table of `count` entries of `ENTRY_BYTES` each, with the keys 0, 1, 2, …
    fn table(number: u32, kind: TallyKind, count: i64) -> SizedTable {
        let entry = |n| match kind.has_occurrences() {
            true => recorded(n, n as u64),
            false => entry(n, (count - n) as u64),
        };
        let all = tally((0..count).map(entry).collect());
        sized_table(number, kind, TableLabel::default(), MAX_MESSAGE_BYTES, all).expect("a table")
    }

    fn keys(entries: &[TableEntry]) -> Vec<i64> {
        let key = |e: &TableEntry| e.keys[0].as_i64().expect("a number");
        entries.iter().map(key).collect()
    }

    #[test]
    fn entries_are_sorted_by_count_and_then_by_key() {
        let all = vec![entry(3, 5), entry(1, 5), entry(2, 9), entry(4, 1)];
        let (shown, omitted) =
            fitting_entries(all, TallyKind::Count, &mut MAX_MESSAGE_BYTES.clone());
        assert_eq!((keys(&shown), omitted), (vec![2, 1, 3, 4], 0));
        let mut sets = vec![entry(1, 90), entry(2, 10)];
        (sets[0].distinct, sets[1].distinct) = (3, 4);
        let (shown, _) = fitting_entries(sets, TallyKind::Distinct, &mut MAX_MESSAGE_BYTES.clone());
        assert_eq!(
            keys(&shown),
            [2, 1],
            "the number of different values comes first"
        );
    }

    #[test]
    fn recorded_values_are_shown_oldest_first_and_the_oldest_are_omitted() {
        let all = vec![recorded(2, 2), recorded(0, 0), recorded(1, 1)];
        let mut room = 2 * ENTRY_BYTES + 1;
        let (shown, omitted) = fitting_entries(all, TallyKind::Last, &mut room);
        assert_eq!((keys(&shown), omitted, room), (vec![1, 2], 1, 1));
        let moment = EntryMetrics::Occurrence {
            number: 1,
            time_ns: 10,
            thread: 1,
        };
        assert_eq!(shown[0].figures, moment);
    }

    #[test]
    fn small_tables_are_kept_whole_and_large_ones_share_the_rest_equally() {
        let mut all = [
            table(0, TallyKind::Count, 100),
            table(1, TallyKind::Count, 10),
            table(2, TallyKind::Last, 60),
        ];
        assert_eq!(all.each_ref().map(|t| t.bytes / ENTRY_BYTES), [100, 10, 60]);
        share_room(&mut all, 80 * ENTRY_BYTES);
        let counts = all
            .each_ref()
            .map(|t| (t.table.entries.len(), t.table.omitted));
        assert_eq!(counts, [(35, 65), (10, 0), (35, 25)]);
        assert_eq!(keys(&all[0].table.entries), (0..35).collect::<Vec<_>>());
        assert_eq!(keys(&all[2].table.entries), (25..60).collect::<Vec<_>>());
        // Without room nothing is left, and no table is lost.
        share_room(&mut all, 0);
        let counts = all
            .each_ref()
            .map(|t| (t.table.entries.len(), t.table.omitted));
        assert_eq!(counts, [(0, 100), (0, 10), (0, 60)]);
        share_room(&mut all, 0);
    }

    #[test]
    fn one_large_table_is_truncated_to_the_size_of_a_message() {
        let count = 2 * (MAX_MESSAGE_BYTES / ENTRY_BYTES) as i64;
        let one = table(0, TallyKind::Count, count);
        assert!(one.bytes <= MAX_MESSAGE_BYTES && one.bytes > MAX_MESSAGE_BYTES - ENTRY_BYTES);
        let shown = one.table.entries.len() as u64;
        assert_eq!(one.table.omitted + shown, count as u64);
        assert_eq!(keys(&one.table.entries[..3]), [0, 1, 2]);
    }

    #[test]
    fn the_estimate_counts_texts_buckets_and_seconds() {
        let mut one = entry(1, 1);
        let bytes = |e: &TallyEntry, kind| estimated_bytes(e, kind) - ENTRY_BYTES;
        assert_eq!(bytes(&one, TallyKind::Count), 0);
        one.keys.push(TallyKey::Text(Some("abcd".into())));
        one.keys.push(TallyKey::Text(None));
        one.keys
            .push(TallyKey::Stack(vec!["a.b:1".into(), "c".into()]));
        assert_eq!(bytes(&one, TallyKind::Count), 8 + 8 + 4);
        one.keys.clear();
        one.buckets = vec![0, 5, 0, 6];
        assert_eq!(bytes(&one, TallyKind::Histogram), 2 * BUCKET_BYTES);
        let linear = LinearBuckets::new(0, 1, 2).expect("buckets");
        assert_eq!(bytes(&one, TallyKind::Linear(linear)), 4 * BUCKET_BYTES);
        one.buckets.clear();
        one.rate = Some(Rate {
            now: 9,
            first: 1,
            seconds: vec![(8, 1), (9, 1)],
        });
        assert_eq!(bytes(&one, TallyKind::Rate), 2 * SECOND_BYTES);
    }

    #[test]
    fn keys_have_a_json_form() {
        let lines = vec!["shop.Desk.serve:41".to_string()];
        let forms = [
            (TallyKey::Integer(-7), "-7"),
            (TallyKey::Float(1.5), "1.5"),
            (TallyKey::Float(f64::NAN), "\"NaN\""),
            (TallyKey::Float(f64::INFINITY), "\"inf\""),
            (TallyKey::Bool(true), "true"),
            (TallyKey::Text(Some("a\"b".into())), "\"a\\\"b\""),
            (TallyKey::Text(None), "null"),
            (TallyKey::Object(0), "null"),
            (TallyKey::Object(0xbeef), "\"@beef\""),
            (TallyKey::Stack(lines), "[\"shop.Desk.serve:41\"]"),
        ];
        for (one, form) in forms {
            assert_eq!(key(&one).to_string(), form);
        }
    }

    #[test]
    fn tables_that_only_probes_read_have_no_form() {
        for kind in [TallyKind::Numbers, TallyKind::Objects, TallyKind::PerObject] {
            assert!(
                sized_table(
                    0,
                    kind,
                    TableLabel::default(),
                    MAX_MESSAGE_BYTES,
                    Tally::default()
                )
                .is_none()
            );
        }
        let label = TableLabel {
            plan: "a.rhai".into(),
            ..TableLabel::default()
        };
        let one = sized_table(
            6,
            TallyKind::Top,
            label,
            MAX_MESSAGE_BYTES,
            Tally::default(),
        )
        .expect("a table");
        assert_eq!(
            (one.table.id.as_str(), one.table.name.as_str()),
            ("t7", "top")
        );
        assert_eq!(one.table.rest, EntryMetrics::Count { count: 0 });
    }
}
