//! Returns an entry of a table as a map.

use super::convert::int;
use rhai::{Array, Dynamic, FLOAT, Map};
use veneer_instruments::{RATE_WINDOW_SECONDS, TallyEntry, TallyKey, TallyKind, bucket_start};

fn key(key: TallyKey) -> Dynamic {
    match key {
        TallyKey::Integer(n) => n.into(),
        TallyKey::Float(x) => x.into(),
        TallyKey::Bool(b) => b.into(),
        TallyKey::Text(Some(text)) => text.into(),
        TallyKey::Text(None) | TallyKey::Object(0) => Dynamic::UNIT,
        other @ TallyKey::Object(_) => other.to_string().into(),
        TallyKey::Stack(lines) => {
            Dynamic::from(lines.into_iter().map(Dynamic::from).collect::<Array>())
        }
    }
}

/// The period that a row covers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowScope {
    /// All values so far.
    All,
    /// The values since an earlier reading. The minimum, the maximum and the rates of this period
    /// are unknown.
    Since,
}

/// Returns an entry as a row.
pub(super) fn row_map(entry: TallyEntry, kind: TallyKind, scope: RowScope) -> Map {
    let mut map = Map::new();
    let mut put = |name: &str, value: Dynamic| {
        map.insert(name.into(), value);
    };
    let figures = buckets(&entry, kind);
    let keys: Array = entry.keys.into_iter().map(key).collect();
    if let Some(at) = entry.at {
        put("values", keys.into());
        put("number", int(at.number).into());
        put("time_ns", int(at.time_ns).into());
        put("thread_id", at.thread_id.into());
        let name = entry.thread_name.map_or(Dynamic::UNIT, Dynamic::from);
        put("thread_name", name);
        return map;
    }
    put("keys", keys.into());
    put("count", int(entry.count).into());
    if kind.has_sums() {
        let avg = match entry.count {
            0 => 0.0,
            count => entry.sum as FLOAT / count as FLOAT,
        };
        put("sum", entry.sum.into());
        put("avg", avg.into());
        if scope == RowScope::All {
            put("min", entry.min.into());
            put("max", entry.max.into());
        }
    }
    for (name, value) in figures {
        put(name, value);
    }
    match kind {
        TallyKind::Rate if scope == RowScope::All => {
            let rate = entry.rate.unwrap_or_default();
            put("per_second", rate.per_second(RATE_WINDOW_SECONDS).into());
            let seconds = rate.counts_by_age().into_iter();
            let seconds = seconds.map(|(ago, count)| pair(int(ago), count));
            put("seconds", seconds.collect::<Array>().into());
        }
        TallyKind::Distinct => put("distinct", int(entry.distinct).into()),
        TallyKind::Top => put("error", int(entry.error).into()),
        _ => {}
    }
    map
}

fn pair(name: i64, count: u64) -> Dynamic {
    Dynamic::from(vec![Dynamic::from(name), int(count).into()])
}

/// Returns the non-empty buckets as pairs of the least value and the count. For a linear histogram,
/// also returns the counts below and above.
fn buckets(entry: &TallyEntry, kind: TallyKind) -> Vec<(&'static str, Dynamic)> {
    let full = entry.buckets.iter().copied().enumerate();
    let full = full.filter(|(_, count)| *count > 0);
    match kind {
        TallyKind::Histogram => {
            let pairs = full.map(|(n, count)| pair(bucket_start(n).map_or(-1, int), count));
            vec![("buckets", pairs.collect::<Array>().into())]
        }
        TallyKind::Linear(linear) => {
            let above = linear.buckets as usize + 1;
            let inside = full.filter(|(n, _)| (1..above).contains(n));
            let pairs = inside.map(|(n, count)| pair(linear.start(n - 1), count));
            let of = |n: usize| -> Dynamic {
                let count = entry.buckets.get(n).copied();
                int(count.unwrap_or(0)).into()
            };
            vec![
                ("buckets", pairs.collect::<Array>().into()),
                ("below", of(0)),
                ("above", of(above)),
            ]
        }
        _ => Vec::new(),
    }
}
