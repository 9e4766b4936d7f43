//! Merges the results of several JVMs into one table.
//!
//! Plans print their rows as JSON objects. Some members of a row are measurements (`hits`, `count`,
//! `min`, …); all other members are the key of the row. Rows with equal keys are merged into one
//! row.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Number, Value};

use crate::output::Style;
use crate::table;

/// Measurements that are added.
const SUMS: [&str; 5] = ["hits", "count", "total_ns", "self_ns", "sum"];
/// Measurements of which the minimum or the maximum is kept.
const MINIMA: [&str; 2] = ["min", "min_ns"];
const MAXIMA: [&str; 2] = ["max", "max_ns"];
/// Measurements that are calculated from others.
const DERIVED: [&str; 2] = ["avg", "mean_ns"];

fn is_measurement(name: &str) -> bool {
    SUMS.contains(&name)
        || MINIMA.contains(&name)
        || MAXIMA.contains(&name)
        || DERIVED.contains(&name)
        || name == "buckets"
}

/// Merges the rows of several JVMs into one list, sorted by descending `total_ns`, `hits` or
/// `count`.
pub fn merge_rows(lists: &[&Vec<Value>]) -> Vec<Value> {
    let mut rows: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for row in lists.iter().flat_map(|list| list.iter()) {
        let Value::Object(row) = row else { continue };
        let place: Map<String, Value> = row
            .iter()
            .filter(|(name, _)| !is_measurement(name))
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        match rows.get_mut(&Value::Object(place.clone()).to_string()) {
            None => {
                rows.insert(Value::Object(place).to_string(), row.clone());
            }
            Some(known) => add_row(known, row),
        }
    }
    let mut all: Vec<Value> = rows.into_values().map(Value::Object).collect();
    all.sort_by_key(|row| std::cmp::Reverse(sort_key(row)));
    all
}

fn add_row(known: &mut Map<String, Value>, row: &Map<String, Value>) {
    // The row of a point that was never reached has 0 as its minimum and maximum. These zeros are
    // no measurements.
    let is_empty = |row: &Map<String, Value>| row.get("count").and_then(Value::as_i64) == Some(0);
    let (empty, other_empty) = (is_empty(known), is_empty(row));
    for (name, value) in row {
        let (Some(a), Some(b)) = (known.get(name).and_then(Value::as_i64), value.as_i64()) else {
            if name == "buckets" {
                let merged = add_buckets(known.get(name), value);
                known.insert(name.clone(), merged);
            }
            continue;
        };
        let both = match name.as_str() {
            n if SUMS.contains(&n) => a.saturating_add(b),
            n if MINIMA.contains(&n) || MAXIMA.contains(&n) => match (empty, other_empty) {
                (true, _) => b,
                (_, true) => a,
                _ if MINIMA.contains(&n) => a.min(b),
                _ => a.max(b),
            },
            _ => continue,
        };
        known.insert(name.clone(), both.into());
    }
    let figure = |name: &str| known.get(name).and_then(Value::as_i64);
    if let (Some(sum), Some(count @ 1..)) = (figure("sum"), figure("count")) {
        let avg = Number::from_f64(sum as f64 / count as f64);
        known.insert("avg".into(), avg.map_or(Value::Null, Value::Number));
    }
}

/// Adds two histograms. A histogram is an array of pairs: start of the bucket, number of values in
/// it.
fn add_buckets(one: Option<&Value>, other: &Value) -> Value {
    let mut all: BTreeMap<i64, i64> = BTreeMap::new();
    for pairs in [one, Some(other)]
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
    {
        for pair in pairs {
            if let (Some(start), Some(n)) = (pair[0].as_i64(), pair[1].as_i64()) {
                *all.entry(start).or_default() += n;
            }
        }
    }
    all.into_iter()
        .map(|(start, n)| Value::from(vec![start, n]))
        .collect()
}

/// The measurement that rows are sorted by.
fn sort_key(row: &Value) -> i64 {
    let measurements = ["total_ns", "hits", "count"];
    measurements
        .iter()
        .find_map(|name| row.get(name)?.as_i64())
        .unwrap_or(0)
}

/// Writes at most `most` rows as a table of three columns: the main measurement, its key, and the
/// other measurements.
pub fn write(to: &mut impl Write, rows: &[Value], most: usize, style: Style) -> io::Result<()> {
    let cells: Vec<[String; 3]> = rows.iter().take(most).map(cells).collect();
    table::write(to, ["figure", "of", "more"], &cells, style)?;
    let left = rows.len().saturating_sub(most);
    if left > 0 {
        writeln!(to, "{} rows, of which {most} are shown", rows.len())?;
    }
    Ok(())
}

fn cells(row: &Value) -> [String; 3] {
    let text = |name: &str| match row.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    let place = match row.get("keys").and_then(Value::as_array) {
        Some(keys) if keys.is_empty() => "all".into(),
        Some(keys) => keys.iter().map(key).collect::<Vec<_>>().join(", "),
        None => {
            let place = [text("class"), text("method")].into_iter().flatten();
            let place = place.collect::<Vec<_>>().join("::");
            let fragment = text("fragment")
                .map(|n| format!(" f{n}"))
                .unwrap_or_default();
            format!("{place}{fragment}")
        }
    };
    let first = match text("total_ns") {
        Some(_) => format!("{:.3} ms", row["total_ns"].as_f64().unwrap_or(0.0) / 1e6),
        None => text("hits").or_else(|| text("count")).unwrap_or_default(),
    };
    let more = ["count", "sum", "avg", "min", "max", "min_ns", "max_ns"];
    let more = more
        .iter()
        .filter_map(|name| Some(format!("{name} {}", text(name)?)));
    let skip = usize::from(text("total_ns").is_none() && text("hits").is_none());
    [first, place, more.skip(skip).collect::<Vec<_>>().join(", ")]
}

/// Formats a key for readers.
pub fn key(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        Value::Null => "()".into(),
        Value::Array(lines) => lines
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" < "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_with_equal_keys_are_merged() {
        let first = vec![
            json!({"class":"A","method":"m()V","fragment":null,"count":2,"total_ns":30,"min_ns":10,"max_ns":20}),
            json!({"class":"B","method":"m()V","fragment":null,"count":0,"total_ns":0,"min_ns":0,"max_ns":0}),
        ];
        let second = vec![
            json!({"class":"A","method":"m()V","fragment":null,"count":1,"total_ns":5,"min_ns":5,"max_ns":5}),
            json!({"class":"B","method":"m()V","fragment":null,"count":1,"total_ns":90,"min_ns":90,"max_ns":90}),
        ];
        let all = merge_rows(&[&first, &second]);
        assert_eq!(
            all,
            [
                json!({"class":"B","method":"m()V","fragment":null,"count":1,"total_ns":90,"min_ns":90,"max_ns":90}),
                json!({"class":"A","method":"m()V","fragment":null,"count":3,"total_ns":35,"min_ns":5,"max_ns":20}),
            ]
        );
    }

    #[test]
    fn keys_keep_rows_apart_and_buckets_add_up() {
        let first = vec![
            json!({"keys":["a"],"count":2,"sum":5,"avg":2.5,"min":2,"max":3,"buckets":[[2,1],[3,1]]}),
        ];
        let second = vec![
            json!({"keys":["a"],"count":2,"sum":6,"avg":3.0,"min":1,"max":5,"buckets":[[1,1],[3,1]]}),
            json!({"keys":["b"],"count":1,"sum":1,"avg":1.0,"min":1,"max":1,"buckets":[[1,1]]}),
        ];
        let all = merge_rows(&[&first, &second]);
        assert_eq!(
            all[0],
            json!({"keys":["a"],"count":4,"sum":11,"avg":2.75,"min":1,"max":5,"buckets":[[1,1],[2,1],[3,2]]})
        );
        assert_eq!(all[1]["keys"], json!(["b"]));
    }
}
