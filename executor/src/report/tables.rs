//! The report's tables: those that code at points fills.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::agent::Agent;
use crate::tallies::Label;
use serde_json::Value;
use veneer_instruments::{Entry, Key, Kind, TallyKind, bucket_start};
use veneer_protocol::{Bucket, Figures, Table, TableEntry, TableKind};

/// What the entries of a report may come to, in bytes of JSON, roughly: a message is to hold them and everything else.
const ROOM: usize = 6 << 20;
/// What an entry comes to without its texts and buckets.
const ENTRY: usize = 160;
/// What a bucket comes to.
const BUCKET: usize = 80;

/// All tables as they are now.
pub fn make(agent: &Agent) -> Vec<Table> {
    let filled = filled(agent);
    let table = |(number, kind, label): (u32, TallyKind, Label)| {
        let word = form(kind)?;
        let now = agent.tallies.read(number, agent.nano_began);
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
                TableKind::Last => drop(table.entries.drain(..gone)),
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
        TallyKind::Last => Some(TableKind::Last),
        TallyKind::Numbers | TallyKind::Objects => None,
    }
}

/// As many entries as there is room for, and how many more there are.
fn entries(mut all: Vec<Entry>, kind: TallyKind, room: &mut usize) -> (Vec<TableEntry>, u64) {
    if kind == TallyKind::Last {
        all.sort_by_key(|entry| Reverse(entry.at));
    } else {
        all.sort_by(|a, b| {
            let keys = a.keys.partial_cmp(&b.keys);
            let keys = keys.unwrap_or(std::cmp::Ordering::Equal);
            b.count.cmp(&a.count).then(keys)
        });
    }
    let count = all.len() as u64;
    let mut shown: Vec<TableEntry> = Vec::new();
    for entry in all {
        let size = size(&entry);
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
    if kind == TallyKind::Last {
        shown.reverse();
    }
    (shown, omitted)
}

fn size(entry: &Entry) -> usize {
    // A character can take six in JSON.
    let texts = entry.keys.iter().map(|key| match key {
        Key::Text(Some(text)) => 2 * text.len(),
        _ => 0,
    });
    let buckets = entry.buckets.iter().filter(|n| **n > 0).count();
    ENTRY + texts.sum::<usize>() + BUCKET * buckets
}

fn key(key: &Key) -> Value {
    match key {
        Key::Integer(n) => Value::from(*n),
        Key::Float(x) if x.is_finite() => Value::from(*x),
        Key::Bool(b) => Value::from(*b),
        Key::Text(Some(text)) => Value::from(text.as_str()),
        Key::Text(None) | Key::Object(0) => Value::Null,
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
        TallyKind::Last => {
            let at = entry.at.unwrap_or_default();
            Figures::Moment {
                number: at.number,
                time_ns: at.time_ns,
                thread: at.thread_id,
            }
        }
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects => Figures::Count { count },
    }
}

fn rest(rest: &Entry, kind: TallyKind) -> Figures {
    let kind = match kind {
        TallyKind::Last => TallyKind::Count,
        kind => kind,
    };
    figures(rest, kind)
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
