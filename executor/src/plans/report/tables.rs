//! The report's tables: those that code at points fills.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::agent::Agent;
use crate::data::aggregations::Label;
use serde_json::Value;
use veneer_instruments::{Entry, Key, Kind, Linear, TallyKind, WINDOW, bucket_start};
use veneer_protocol::{Bucket, Figures, Second, Table, TableEntry, TableKind};

/// What the entries of a report may come to, in bytes of JSON, roughly: a message is to hold them and everything else.
const ROOM: usize = 6 << 20;
/// What an entry comes to without its texts and buckets.
const ENTRY: usize = 160;
/// What a bucket comes to.
const BUCKET: usize = 80;
/// What a second of a rate comes to.
const SECOND: usize = 30;

/// All tables as they are now.
pub fn make(agent: &Agent) -> Vec<Table> {
    let filled = filled(agent);
    let table = |(number, kind, label): (u32, TallyKind, Label)| {
        let word = form(kind)?;
        let now = agent.tallies.read(&agent.shards, number, agent.nano_began);
        let now = match kind {
            TallyKind::Distinct => now.distinct(),
            _ => now,
        };
        // Nothing is kept that cannot be shown: a table may be large.
        let mut room = ROOM;
        let (entries, omitted) = entries(now.entries, kind, &mut room);
        let table = Table {
            id: format!("t{}", u64::from(number) + 1),
            name: label.name.unwrap_or_else(|| word.word().into()),
            kind: word,
            plan: label.plan,
            attached: filled.contains(&number),
            entries,
            omitted,
            rest: rest(&now.rest, kind),
        };
        Some((table, ROOM - room))
    };
    let mut all: Vec<(Table, usize)> = agent.tallies.list().into_iter().filter_map(table).collect();
    share(&mut all);
    all.into_iter().map(|(table, _)| table).collect()
}

/// Has the tables fit together into the room: small ones whole, the others as far as what is left goes for each.
fn share(all: &mut [(Table, usize)]) {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|n| all.get(*n).map(|(_, needed)| *needed));
    let mut room = ROOM;
    for (done, n) in order.iter().enumerate() {
        let share = room / (order.len() - done);
        let Some((table, needed)) = all.get_mut(*n) else {
            continue;
        };
        if *needed > share {
            // Entries are much of a size: those of a table have the same keys.
            let keep = table.entries.len() * share / (*needed).max(1);
            let gone = table.entries.len() - keep;
            table.omitted += gone as u64;
            match table.kind {
                TableKind::Last | TableKind::Sample => drop(table.entries.drain(..gone)),
                _ => table.entries.truncate(keep),
            }
            *needed = share;
        }
        room -= *needed;
    }
}

/// The tables to which attached code gives values.
fn filled(agent: &Agent) -> HashSet<u32> {
    let tables = agent.table.lock();
    let attached = tables.instruments.iter().filter(|i| i.attached);
    attached
        .filter_map(|i| match &i.spec.kind {
            Kind::Code(code) => Some(code.tables()),
            _ => None,
        })
        .flatten()
        .collect()
}

fn form(kind: TallyKind) -> Option<TableKind> {
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

/// As many entries as there is room for, and how many more there are.
fn entries(mut all: Vec<Entry>, kind: TallyKind, room: &mut usize) -> (Vec<TableEntry>, u64) {
    if kind.has_moments() {
        all.sort_by_key(|entry| Reverse(entry.at));
    } else {
        all.sort_by(|a, b| {
            let keys = a.keys.partial_cmp(&b.keys);
            let keys = keys.unwrap_or(std::cmp::Ordering::Equal);
            let larger = b.distinct.cmp(&a.distinct);
            larger.then(b.count.cmp(&a.count)).then(keys)
        });
    }
    let count = all.len() as u64;
    let mut shown: Vec<TableEntry> = Vec::new();
    for entry in all {
        let size = size(&entry, kind);
        if size > *room {
            break;
        }
        *room -= size;
        shown.push(TableEntry {
            keys: entry.keys.iter().map(key).collect(),
            figures: figures(&entry, kind),
        });
    }
    let omitted = count - shown.len() as u64;
    if kind.has_moments() {
        shown.reverse();
    }
    (shown, omitted)
}

fn size(entry: &Entry, kind: TallyKind) -> usize {
    // A character can take six in JSON.
    let texts = entry.keys.iter().map(|key| match key {
        Key::Text(Some(text)) => 2 * text.len(),
        Key::Stack(lines) => lines.iter().map(|line| line.len() + 3).sum(),
        _ => 0,
    });
    let buckets = match kind {
        TallyKind::Linear(_) => entry.buckets.len(),
        _ => entry.buckets.iter().filter(|n| **n > 0).count(),
    };
    let seconds = entry.rate.as_ref().map_or(0, |rate| rate.seconds.len());
    ENTRY + texts.sum::<usize>() + BUCKET * buckets + SECOND * seconds
}

fn key(key: &Key) -> Value {
    match key {
        Key::Integer(n) => Value::from(*n),
        Key::Float(x) if x.is_finite() => Value::from(*x),
        Key::Bool(b) => Value::from(*b),
        Key::Text(Some(text)) => Value::from(text.as_str()),
        Key::Text(None) | Key::Object(0) => Value::Null,
        Key::Stack(lines) => Value::from(lines.as_slice()),
        // JSON has no NaN and no infinity.
        other @ (Key::Float(_) | Key::Object(_)) => Value::from(other.to_string()),
    }
}

fn figures(entry: &Entry, kind: TallyKind) -> Figures {
    let Entry {
        count,
        sum,
        min,
        max,
        ..
    } = *entry;
    match kind {
        TallyKind::Sums => Figures::Sums {
            count,
            sum,
            min,
            max,
        },
        TallyKind::Histogram => Figures::Distribution {
            count,
            sum,
            min,
            max,
            buckets: buckets(&entry.buckets),
        },
        TallyKind::Linear(linear) => Figures::Distribution {
            count,
            sum,
            min,
            max,
            buckets: equal(&entry.buckets, linear),
        },
        TallyKind::Rate => {
            let rate = entry.rate.clone().unwrap_or_default();
            let second = |(ago, count)| Second { ago, count };
            Figures::Rate {
                count,
                whole: rate.whole(WINDOW),
                seconds: rate.recent().into_iter().map(second).collect(),
            }
        }
        TallyKind::Distinct => Figures::Distinct {
            count,
            distinct: entry.distinct,
        },
        TallyKind::Top => Figures::Bound {
            count,
            error: entry.error,
        },
        TallyKind::Last | TallyKind::Sample => {
            let at = entry.at.unwrap_or_default();
            Figures::Moment {
                number: at.number,
                time_ns: at.time_ns,
                thread: at.thread_id,
            }
        }
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => {
            Figures::Count { count }
        }
    }
}

fn rest(rest: &Entry, kind: TallyKind) -> Figures {
    let kind = match kind {
        // Of these no more is known of it.
        TallyKind::Last | TallyKind::Sample | TallyKind::Top | TallyKind::Distinct => {
            TallyKind::Count
        }
        kind => kind,
    };
    figures(rest, kind)
}

/// All buckets of one width, empty ones too: who reads them is to know where they lie.
fn equal(counts: &[u64], linear: Linear) -> Vec<Bucket> {
    let bucket = |(range, count): (Option<(i64, i64)>, &u64)| {
        let (from, to) = range?;
        let count = *count;
        Some(Bucket { from, to, count })
    };
    linear.ranges().zip(counts).filter_map(bucket).collect()
}

fn buckets(counts: &[u64]) -> Vec<Bucket> {
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
    let full = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut buckets: Vec<Bucket> = full.map(bucket).collect();
    buckets.sort_by_key(|bucket| bucket.from);
    buckets
}
