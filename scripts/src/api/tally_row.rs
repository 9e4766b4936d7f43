//! Returns an entry of a table as a map.

use super::convert::int;
use rhai::{Array, Dynamic, FLOAT, Map};
use veneer_instruments::table::{OwnValue, own_values};
use veneer_instruments::{TallyEntry, TallyKey, TallyKind};

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
    let own = own_values(&entry, kind, scope == RowScope::All);
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
    for (name, value) in own {
        let value = match value {
            OwnValue::Count(count) => int(count).into(),
            OwnValue::Number(number) => number.into(),
            OwnValue::Pairs(pairs) => {
                let pairs = pairs.into_iter().map(|(name, count)| pair(name, count));
                pairs.collect::<Array>().into()
            }
        };
        put(name, value);
    }
    map
}

fn pair(name: i64, count: u64) -> Dynamic {
    Dynamic::from(vec![Dynamic::from(name), int(count).into()])
}
