//! The lifetimes of a memory profile, summed by allocation site and type or by type, and as JSON.

use ahash::RandomState;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::MemoryProfile;
use crate::histogram::LogHistogram;
use crate::lifetimes::{CLOCK_NAMES, Lifetimes, Span};

/// The property by which lifetimes are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifetimeGroup {
    /// The allocation site and the type.
    Site,
    /// The type alone.
    Type,
}

impl LifetimeGroup {
    /// The name of the property.
    pub fn name(self) -> &'static str {
        match self {
            LifetimeGroup::Site => "site",
            LifetimeGroup::Type => "type",
        }
    }
}

/// The lifetimes of the objects of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifetimeRow {
    /// The allocation site; empty if objects of several sites are summed.
    pub site: String,
    /// The type in Java form.
    pub type_name: String,
    /// The lives of the objects.
    pub lives: Lifetimes,
}

impl MemoryProfile {
    /// Sums the lifetimes of all allocations that have some. The rows with the most bytes are first.
    pub fn lifetimes(&self, by: LifetimeGroup) -> Vec<LifetimeRow> {
        let mut sums: IndexMap<(String, String), Lifetimes, RandomState> = IndexMap::default();
        for row in &self.allocations {
            let Some(lives) = &row.lifetimes else {
                continue;
            };
            let site = match by {
                LifetimeGroup::Site => self.site_name(row.site),
                LifetimeGroup::Type => String::new(),
            };
            let key = (site, self.type_name(row.type_id));
            sums.entry(key).or_default().merge(lives);
        }
        let row = |((site, type_name), lives)| LifetimeRow {
            site,
            type_name,
            lives,
        };
        let mut rows: Vec<LifetimeRow> = sums.into_iter().map(row).collect();
        rows.sort_by(|a, b| {
            let names = (&a.type_name, &a.site).cmp(&(&b.type_name, &b.site));
            b.lives.bytes.cmp(&a.lives.bytes).then(names)
        });
        rows
    }

    /// Lifetimes as JSON: the rows, their sum, and the notes.
    pub fn lifetimes_json(&self, by: LifetimeGroup, rows: &[LifetimeRow]) -> Value {
        let mut total = Lifetimes::default();
        rows.iter().for_each(|row| total.merge(&row.lives));
        let row = |row: &LifetimeRow| {
            let mut map = lives_json(&row.lives);
            if by == LifetimeGroup::Site {
                map.insert("site".into(), json!(row.site));
            }
            map.insert("type".into(), json!(row.type_name));
            Value::Object(map)
        };
        json!({
            "program": self.program,
            "by": by.name(),
            "rows": rows.iter().map(row).collect::<Vec<_>>(),
            "total": lives_json(&total),
            "notes": self.notes,
        })
    }
}

fn lives_json(lives: &Lifetimes) -> Map<String, Value> {
    let span = |span: &Span| {
        let clocks = CLOCK_NAMES.iter().zip(span);
        Value::Object(
            clocks
                .map(|(name, one)| ((*name).to_owned(), histogram_json(one)))
                .collect(),
        )
    };
    let fields = [
        ("objects", json!(lives.objects)),
        ("bytes", json!(lives.bytes)),
        ("void", json!(lives.void)),
        ("alive", json!(lives.alive)),
        ("alive_bytes", json!(lives.alive_bytes)),
        ("used", span(&lives.used)),
        ("drag", span(&lives.drag)),
        ("life", span(&lives.life)),
        ("survived", histogram_json(&lives.survived)),
    ];
    let owned = fields.map(|(name, value)| (name.to_owned(), value));
    owned.into_iter().collect()
}

fn histogram_json(histogram: &LogHistogram) -> Value {
    let filled = histogram
        .counts()
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0);
    let buckets = filled.map(
        |(bucket, count)| json!({ "from": LogHistogram::lower_bound(bucket), "count": count }),
    );
    json!({
        "median": histogram.quantile(0.5),
        "p90": histogram.quantile(0.9),
        "histogram": buckets.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifetimes::{Moment, ObjectLife};
    use crate::profile::{AllocationRow, Site};
    use std::sync::Arc;

    fn life(bytes: u64, uses: u64) -> ObjectLife {
        let last_use = Moment {
            accesses: uses,
            ..Moment::default()
        };
        ObjectLife {
            bytes,
            birth: Moment::default(),
            last_use: (uses > 0).then_some(last_use),
            death: None,
            survived: 0,
        }
    }

    #[test]
    fn lifetimes_are_summed_by_site_or_by_type() {
        let mut profile = MemoryProfile {
            types: vec![Arc::from("a.B")],
            ..MemoryProfile::default()
        };
        for line in 1..=2 {
            profile.sites.push(Site {
                class: "a.C".into(),
                method: "m()V".into(),
                line: Some(line),
                field: "".into(),
            });
            let mut lives = Lifetimes::default();
            lives.add(&life(16 * u64::from(line), u64::from(line) - 1));
            profile.allocations.push(AllocationRow {
                site: line - 1,
                lifetimes: Some(Box::new(lives)),
                ..AllocationRow::default()
            });
        }
        profile.allocations.push(AllocationRow::default());
        let sites = profile.lifetimes(LifetimeGroup::Site);
        let names: Vec<&str> = sites.iter().map(|row| row.site.as_str()).collect();
        assert_eq!(names, ["a.C::m()V:2", "a.C::m()V:1"]);
        let types = profile.lifetimes(LifetimeGroup::Type);
        assert_eq!(types.len(), 1);
        assert_eq!((types[0].lives.objects, types[0].lives.void), (2, 1));
        let json = profile.lifetimes_json(LifetimeGroup::Type, &types);
        assert_eq!(json["rows"][0]["type"], "a.B");
        assert_eq!(json["rows"][0].get("site"), None);
        assert_eq!(json["total"]["used"]["accesses"]["median"], 1);
        assert_eq!(json["total"]["drag"]["accesses"]["median"], Value::Null);
    }
}
