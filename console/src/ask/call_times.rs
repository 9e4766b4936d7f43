//! The times of calls that a plan measured: joins the total times with the self times, and renders
//! the table.
//!
//! The *self time* of a call is its time without the calls of selected methods below it.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use veneer_instruments::table::{format_count, format_duration};
use veneer_probes::function::hash_of_method;
use veneer_text::{ColumnFormat, TextTable};

use crate::output::Style;

/// The width of a table if standard output is no terminal, in columns.
const FILE_WIDTH: usize = 100;

/// Returns the rows of `{"places", "calls", "selves"}`, most total time first. A row has `count`,
/// `total_ns`, `min_ns`, `max_ns` and `self_ns` (null if the self time is unknown), and either
/// `keys` or the members of a point: `class`, `method` and others.
pub fn rows(printed: &Value) -> Vec<Value> {
    let list = |name: &str| printed[name].as_array().cloned().unwrap_or_default();
    let places = list("places");
    let own: BTreeMap<String, Value> = list("selves")
        .iter()
        .map(|row| (row["keys"].to_string(), row["sum"].clone()))
        .collect();
    let own_of = |keys: &Value| own.get(&keys.to_string()).cloned().unwrap_or(Value::Null);
    let mut rows: Vec<Value> = if printed["calls"].is_array() {
        let methods: BTreeMap<i64, &Value> = places.iter().map(|p| (hash_of(p), p)).collect();
        let calls = list("calls");
        let call_row = |row: &Value| call_row(row, &methods, own_of(&row["keys"]));
        calls.iter().map(call_row).collect()
    } else {
        let with_own = |mut row: Value| {
            let own = match row["count"].as_i64() {
                Some(0) => json!(0),
                _ => own_of(&json!([hash_of(&row)])),
            };
            row["self_ns"] = at_most_total(own, &row["total_ns"]);
            row
        };
        places.into_iter().map(with_own).collect()
    };
    rows.sort_by_key(|row| std::cmp::Reverse(row["total_ns"].as_i64().unwrap_or(0)));
    rows
}

/// The self time, which is not longer than the total time. The code that measures it reads the clock
/// before the timer does and after it, so the self time of a short call includes the cost of the timer.
fn at_most_total(own: Value, total: &Value) -> Value {
    match (own.as_i64(), total.as_i64()) {
        (Some(own), Some(total)) => json!(own.min(total)),
        _ => own,
    }
}

fn hash_of(place: &Value) -> i64 {
    let text = |name: &str| place[name].as_str().unwrap_or_default();
    hash_of_method(&format!("{}::{}", text("class"), text("method")))
}

/// A row of a table of calls. A row whose only key is the number of a method becomes that of the
/// method.
fn call_row(row: &Value, methods: &BTreeMap<i64, &Value>, own: Value) -> Value {
    let mut out = Map::new();
    let method = match row["keys"].as_array().map(Vec::as_slice) {
        Some([one]) => one.as_i64().and_then(|hash| methods.get(&hash)),
        _ => None,
    };
    match method {
        Some(place) => {
            for name in ["class", "method", "line"] {
                out.insert(name.into(), place[name].clone());
            }
        }
        None => drop(out.insert("keys".into(), row["keys"].clone())),
    }
    for (name, from) in [
        ("count", "count"),
        ("total_ns", "sum"),
        ("min_ns", "min"),
        ("max_ns", "max"),
    ] {
        out.insert(name.into(), row[from].clone());
    }
    out.insert("self_ns".into(), own);
    Value::Object(out)
}

/// Renders the first `most` rows that have calls. `all` is the number of rows with those that have no
/// calls, which can be missing. Times are of all threads together. There is no
/// total: the time of a call is also part of the time of its caller.
pub fn render(rows: &[Value], all: usize, most: usize, style: Style) -> String {
    let called: Vec<&Value> = rows.iter().filter(|row| row["count"] != 0).collect();
    let keys = |row: &&Value| row["keys"].as_array().map_or(0, Vec::len);
    let key_columns = called.iter().map(keys).max().unwrap_or(0);
    let mut columns: Vec<(&str, ColumnFormat)> = ["total", "self", "count", "mean", "min", "max"]
        .map(|name| (name, ColumnFormat::Right))
        .to_vec();
    match key_columns {
        0 => columns.extend([
            ("class", ColumnFormat::ShrinkName),
            ("method", ColumnFormat::ShrinkName),
        ]),
        n => columns.extend((0..n).map(|_| ("key", ColumnFormat::ShrinkName))),
    }
    let mut table = TextTable::new(&columns);
    for row in called.iter().take(most) {
        table.push_row(cells(row, key_columns));
    }
    let mut out = String::new();
    if !called.is_empty() {
        let rendered = table.render(Some(style.width.unwrap_or(FILE_WIDTH)));
        out.push_str(&style.bold(rendered.heading.trim_end()));
        for row in rendered.rows {
            out.push('\n');
            out.push_str(row.trim_end());
        }
        out.push('\n');
    }
    out.push_str(&foot(
        all.max(rows.len()),
        called.len(),
        most,
        key_columns > 0,
    ));
    out
}

fn cells(row: &Value, key_columns: usize) -> Vec<String> {
    let number = |name: &str| row[name].as_u64();
    let duration = |ns: Option<u64>| ns.map_or("-".to_owned(), format_duration);
    let count = number("count").unwrap_or(0);
    let total = number("total_ns");
    let mut cells = vec![
        duration(total),
        duration(number("self_ns")),
        format_count(count),
        duration(total.map(|total| total / count.max(1))),
        duration(number("min_ns")),
        duration(number("max_ns")),
    ];
    if key_columns == 0 {
        cells.push(row["class"].as_str().unwrap_or_default().to_owned());
        let method = row["method"].as_str().unwrap_or_default();
        cells.push(veneer_names::short_java_signature(method));
        return cells;
    }
    let keys = row["keys"].as_array();
    let key = |n: usize| {
        keys.and_then(|keys| keys.get(n))
            .map_or(String::new(), super::merge::key)
    };
    cells.extend((0..key_columns).map(key));
    cells
}

/// The last line of a table: the number of rows, of those that are shown, and of methods without
/// calls.
fn foot(all: usize, called: usize, most: usize, has_keys: bool) -> String {
    let (one, many) = if has_keys {
        ("key", "keys")
    } else {
        ("method", "methods")
    };
    let noun = if called == 1 { one } else { many };
    let mut foot = format!("{} {noun}", format_count(called as u64));
    if called > most {
        foot += &format!(", of which {most} are shown");
    }
    if all > called {
        foot += &format!("; {} never called", format_count((all - called) as u64));
    }
    foot
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style {
        colour: false,
        width: None,
    };

    fn place(method: &str, count: u64, total: u64) -> Value {
        json!({"class": "a.B", "method": method, "fragment": null, "count": count, "total_ns": total, "min_ns": 1, "max_ns": total})
    }

    #[test]
    fn self_times_are_joined_by_method_and_nothing_is_summed() {
        let hash = |method: &str| hash_of_method(&format!("a.B::{method}"));
        let printed = json!({
            "places": [place("inner(I)V", 2, 3_000), place("outer()V", 1, 5_000), place("idle()V", 0, 0)],
            "selves": [{"keys": [hash("outer()V")], "sum": 2_000}, {"keys": [hash("inner(I)V")], "sum": 3_000}],
        });
        let rows = rows(&printed);
        let own: Vec<&Value> = rows.iter().map(|row| &row["self_ns"]).collect();
        assert_eq!(own, [&json!(2_000), &json!(3_000), &json!(0)]);
        let text = render(&rows, 0, 9, PLAIN);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|l| l.split_whitespace().collect())
            .collect();
        assert_eq!(
            lines[0],
            [
                "total", "self", "count", "mean", "min", "max", "class", "method"
            ]
        );
        assert_eq!(lines[1][..5], ["5.00", "µs", "2.00", "µs", "1"]);
        assert_eq!(text.lines().last(), Some("2 methods; 1 never called"));
        assert!(
            render(&rows, 0, 1, PLAIN).ends_with("2 methods, of which 1 are shown; 1 never called")
        );
    }

    #[test]
    fn a_self_time_is_not_longer_than_the_total_time() {
        let hash = hash_of_method("a.B::m()V");
        let selves = json!([{"keys": [hash], "sum": 9}]);
        let rows = rows(&json!({"places": [place("m()V", 1, 7)], "selves": selves}));
        assert_eq!(rows[0]["self_ns"], 7);
    }

    #[test]
    fn an_unknown_self_time_is_a_dash() {
        let rows = rows(&json!({"places": [place("m()V", 1, 7)], "selves": []}));
        assert_eq!(rows[0]["self_ns"], Value::Null);
        assert!(
            render(&rows, 0, 9, PLAIN).contains("7 ns     -"),
            "{}",
            render(&rows, 0, 9, PLAIN)
        );
    }

    #[test]
    fn calls_have_keys_or_the_names_of_their_method() {
        let hash = hash_of_method("a.B::m()V");
        let call = |key: Value| json!({"keys": [key], "count": 2, "sum": 10, "avg": 5.0, "min": 4, "max": 6});
        let printed = json!({"places": [place("m()V", 9, 0)], "calls": [call(json!(hash)), call(json!("c7"))], "selves": [{"keys": ["c7"], "sum": 8}]});
        let rows = rows(&printed);
        let of_method = rows.iter().find(|row| row["method"] == "m()V").unwrap();
        assert_eq!(
            (&of_method["total_ns"], &of_method["count"]),
            (&json!(10), &json!(2))
        );
        let keyed = rows
            .iter()
            .find(|row| row["keys"] == json!(["c7"]))
            .unwrap();
        assert_eq!(keyed["self_ns"], 8);
        assert!(render(&rows[..0], 4, 3, PLAIN).starts_with("0 methods"));
    }
}
