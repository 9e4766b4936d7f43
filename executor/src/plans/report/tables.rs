//! The tallies in the report. A *tally* is an aggregation map that probes fill.
//!
//! A report is one message to a client, and the size of messages is limited. So the tallies share
//! [`MAX_TABLES_BYTES`] of it, and each tally omits the entries that do not fit: the least frequent
//! ones, or the oldest ones of `last` and `sample`.

use std::cmp::{Ordering, Reverse};

use crate::agent::Agent;
use crate::data::aggregations::TableLabel;
use serde_json::Value;
use veneer_instruments::{
    LinearBuckets, RATE_WINDOW_SECONDS, Tally, TallyEntry, TallyKey, TallyKind, bucket_start,
};
use veneer_protocol::{Bucket, EntryMetrics, SecondCount, Table, TableEntry, TableKind};

/// The most bytes of JSON, by estimate, of all entries of a report. The rest of the message is left
/// to everything else.
const MAX_TABLES_BYTES: usize = 6 << 20;
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

/// Returns the current content of all tables that have a form in the report.
pub fn make_tables(agent: &Agent) -> Vec<Table> {
    let attached = agent.table.lock().tables_of_attached_code();
    let sized = |(number, kind, label): (u32, TallyKind, TableLabel)| {
        let now = agent.tallies.read(&agent.shards, number, agent.nano_began);
        // The entries are reduced at once: a table with all its entries may be large.
        let mut sized = sized_table(number, kind, label, now)?;
        sized.table.attached = attached.contains(&number);
        Some(sized)
    };
    let shown = agent.tallies.labelled_tables().into_iter();
    let mut all: Vec<SizedTable> = shown.filter_map(sized).collect();
    share_room(&mut all, MAX_TABLES_BYTES);
    all.into_iter().map(|sized| sized.table).collect()
}

/// The report's form of one table, with as many entries as [`MAX_TABLES_BYTES`] allows. Returns
/// `None` for a table that only probes can read.
fn sized_table(number: u32, kind: TallyKind, label: TableLabel, now: Tally) -> Option<SizedTable> {
    let table_kind = table_kind(kind)?;
    let now = match kind {
        TallyKind::Distinct => now.count_distinct(),
        _ => now,
    };
    let mut room = MAX_TABLES_BYTES;
    let (entries, omitted) = fitting_entries(now.entries, kind, &mut room);
    Some(SizedTable {
        table: Table {
            id: format!("t{}", u64::from(number) + 1),
            name: label
                .name
                .unwrap_or_else(|| table_kind.plan_function().into()),
            kind: table_kind,
            plan: label.plan,
            attached: false,
            entries,
            omitted,
            rest: rest(&now.rest, kind),
        },
        bytes: MAX_TABLES_BYTES - room,
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

fn table_kind(kind: TallyKind) -> Option<TableKind> {
    match kind {
        TallyKind::Count => Some(TableKind::Tally),
        TallyKind::Sums => Some(TableKind::Sums),
        TallyKind::Histogram => Some(TableKind::Histogram),
        TallyKind::Linear(_) => Some(TableKind::Linear),
        TallyKind::Rate => Some(TableKind::Rate),
        TallyKind::Distinct => Some(TableKind::Distinct),
        TallyKind::Top => Some(TableKind::Top),
        TallyKind::Last => Some(TableKind::Last),
        TallyKind::Sample => Some(TableKind::Sample),
        TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => None,
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
            figures: figures(&entry, kind),
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

/// The metrics of an entry, by the kind of its table.
fn figures(entry: &TallyEntry, kind: TallyKind) -> EntryMetrics {
    let TallyEntry {
        count,
        sum,
        min,
        max,
        ..
    } = *entry;
    match kind {
        TallyKind::Sums => EntryMetrics::Sums {
            count,
            sum,
            min,
            max,
        },
        TallyKind::Histogram => EntryMetrics::Distribution {
            count,
            sum,
            min,
            max,
            buckets: filled_buckets(&entry.buckets),
        },
        TallyKind::Linear(linear) => EntryMetrics::Distribution {
            count,
            sum,
            min,
            max,
            buckets: linear_buckets(&entry.buckets, linear),
        },
        TallyKind::Rate => {
            let rate = entry.rate.clone().unwrap_or_default();
            let second = |(ago, count)| SecondCount { ago, count };
            EntryMetrics::Rate {
                count,
                whole: rate.complete_seconds(RATE_WINDOW_SECONDS),
                seconds: rate.counts_by_age().into_iter().map(second).collect(),
            }
        }
        TallyKind::Distinct => EntryMetrics::Distinct {
            count,
            distinct: entry.distinct,
        },
        TallyKind::Top => EntryMetrics::UpperBound {
            count,
            error: entry.error,
        },
        TallyKind::Last | TallyKind::Sample => {
            let at = entry.at.unwrap_or_default();
            EntryMetrics::Occurrence {
                number: at.number,
                time_ns: at.time_ns,
                thread: at.thread_id,
            }
        }
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => {
            EntryMetrics::Count { count }
        }
    }
}

/// The metrics of the values that found no entry. For some kinds only their number is known.
fn rest(rest: &TallyEntry, kind: TallyKind) -> EntryMetrics {
    let kind = match kind {
        TallyKind::Last | TallyKind::Sample | TallyKind::Top | TallyKind::Distinct => {
            TallyKind::Count
        }
        kind => kind,
    };
    figures(rest, kind)
}

/// All buckets of a linear histogram, including empty ones, so that a reader knows their bounds.
fn linear_buckets(counts: &[u64], linear: LinearBuckets) -> Vec<Bucket> {
    let bucket = |(range, count): (Option<(i64, i64)>, &u64)| {
        let (from, to) = range?;
        let count = *count;
        Some(Bucket { from, to, count })
    };
    linear.ranges().zip(counts).filter_map(bucket).collect()
}

/// The buckets of an exponential histogram that are not empty, in ascending order. The last element
/// of `counts` is the bucket of negative values.
fn filled_buckets(counts: &[u64]) -> Vec<Bucket> {
    let bound = |start: u64| i64::try_from(start).unwrap_or(i64::MAX);
    let bucket = |(n, count): (usize, &u64)| match bucket_start(n) {
        Some(from) => Bucket {
            from: bound(from),
            to: bucket_start(n + 1).map_or(i64::MAX, |next| bound(next) - 1),
            count: *count,
        },
        None => Bucket {
            from: i64::MIN,
            to: -1,
            count: *count,
        },
    };
    let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut buckets: Vec<Bucket> = filled.map(bucket).collect();
    buckets.sort_by_key(|bucket| bucket.from);
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_instruments::{HISTOGRAM_BUCKETS, Occurrence, Rate};

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
        sized_table(number, kind, TableLabel::default(), all).expect("a table")
    }

    fn keys(entries: &[TableEntry]) -> Vec<i64> {
        let key = |e: &TableEntry| e.keys[0].as_i64().expect("a number");
        entries.iter().map(key).collect()
    }

    #[test]
    fn entries_are_sorted_by_count_and_then_by_key() {
        let all = vec![entry(3, 5), entry(1, 5), entry(2, 9), entry(4, 1)];
        let (shown, omitted) =
            fitting_entries(all, TallyKind::Count, &mut MAX_TABLES_BYTES.clone());
        assert_eq!((keys(&shown), omitted), (vec![2, 1, 3, 4], 0));
        let mut sets = vec![entry(1, 90), entry(2, 10)];
        (sets[0].distinct, sets[1].distinct) = (3, 4);
        let (shown, _) = fitting_entries(sets, TallyKind::Distinct, &mut MAX_TABLES_BYTES.clone());
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
        let count = 2 * (MAX_TABLES_BYTES / ENTRY_BYTES) as i64;
        let one = table(0, TallyKind::Count, count);
        assert!(one.bytes <= MAX_TABLES_BYTES && one.bytes > MAX_TABLES_BYTES - ENTRY_BYTES);
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
    fn buckets_of_a_histogram_are_ascending_with_negative_values_first() {
        let mut counts = vec![0; HISTOGRAM_BUCKETS];
        for (n, count) in [
            (HISTOGRAM_BUCKETS - 1, 2),
            (0, 1),
            (5, 7),
            (HISTOGRAM_BUCKETS - 2, 3),
        ] {
            counts[n] = count;
        }
        let found: Vec<_> = filled_buckets(&counts)
            .iter()
            .map(|b| (b.from, b.to, b.count))
            .collect();
        let largest = (i64::MAX - (1 << 60), i64::MAX, 3);
        assert_eq!(found[..3], [(i64::MIN, -1, 2), (0, 0, 1), (5, 5, 7)]);
        assert_eq!(
            (found[3].1, found[3].2, found.len()),
            (largest.1, largest.2, 4)
        );
    }

    #[test]
    fn linear_buckets_include_empty_ones_and_have_their_bounds() {
        let linear = LinearBuckets::new(-10, 5, 2).expect("buckets");
        let found: Vec<_> = linear_buckets(&[4, 0, 1, 2], linear)
            .iter()
            .map(|b| (b.from, b.to, b.count))
            .collect();
        let expected = [
            (i64::MIN, -11, 4),
            (-10, -6, 0),
            (-5, -1, 1),
            (0, i64::MAX, 2),
        ];
        assert_eq!(found, expected);
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
            assert!(sized_table(0, kind, TableLabel::default(), Tally::default()).is_none());
        }
        let label = TableLabel {
            plan: "a.rhai".into(),
            name: None,
        };
        let one = sized_table(6, TallyKind::Top, label, Tally::default()).expect("a table");
        assert_eq!(
            (one.table.id.as_str(), one.table.name.as_str()),
            ("t7", "top")
        );
        assert_eq!(one.table.rest, EntryMetrics::Count { count: 0 });
    }
}
