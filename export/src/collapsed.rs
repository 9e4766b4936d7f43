//! Collapsed stacks, the input of flame graph tools: frames joined by `;`, a space, and a number.
//!
//! ```text
//!   hits;shop.Desk;serve(shop.Order, int);block 3 (line 41) 1000
//!   took;shop.Desk;serve(shop.Order, int) 34567            of a timer: microseconds in all
//!   orders;ann;book 12                                     of a table: the name, then the keys
//! ```
//!
//! The instrument's name is the root, since figures of different instruments are not to be added up.

use std::fmt::Write;

use indexmap::IndexMap;
use serde_json::Value;
use veneer_protocol::{Figures, Instrument, Point, Readings, Report, Table};

use crate::descriptor::readable;

/// All of a report, a line for each stack; figures of 0 are left out.
pub fn render(report: &Report) -> String {
    let mut stacks: IndexMap<String, u64> = IndexMap::new();
    let mut add = |frames: Vec<String>, number: u64| {
        if number > 0 {
            let stack: Vec<String> = frames.iter().map(|frame| clean(frame)).collect();
            let sum = stacks.entry(stack.join(";")).or_default();
            *sum = sum.saturating_add(number);
        }
    };
    for instrument in &report.instruments {
        for point in &instrument.points {
            add(frames(instrument, point), number(point.readings));
        }
    }
    for table in &report.tables {
        for entry in &table.entries {
            // Values that came once each are no stacks.
            if !matches!(entry.figures, Figures::Moment { .. }) {
                add(keys(table, &entry.keys), entry.figures.count());
            }
        }
    }
    let mut text = String::new();
    for (stack, sum) in stacks {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{stack} {sum}");
    }
    text
}

fn number(readings: Readings) -> u64 {
    match readings {
        Readings::Count { hits } => hits,
        Readings::Time { total_ns, .. } => total_ns / 1000,
        Readings::Log { events, .. } => events,
    }
}

fn frames(instrument: &Instrument, point: &Point) -> Vec<String> {
    let mut frames = vec![
        instrument.name.clone(),
        point.class.clone(),
        readable(&point.method),
    ];
    let line = point.line.map(|line| format!(" (line {line})"));
    let line = line.unwrap_or_default();
    match (point.fragment, point.to, &point.what) {
        (_, _, Some(what)) => frames.push(format!("{what}{line}")),
        (Some(from), Some(to), _) => frames.push(format!("edge {from} to {to}{line}")),
        (Some(fragment), None, _) => frames.push(format!("block {fragment}{line}")),
        (None, ..) => {}
    }
    frames
}

fn keys(table: &Table, keys: &[Value]) -> Vec<String> {
    let text = |key: &Value| match key {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    std::iter::once(table.name.clone())
        .chain(keys.iter().map(text))
        .collect()
}

/// A frame without what would end it, and never empty.
fn clean(frame: &str) -> String {
    let clean: String = frame
        .chars()
        .map(|c| match c {
            ';' => ':',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    match clean.trim() {
        "" => "-".into(),
        text => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::sample::report;

    #[test]
    fn each_figure_is_a_stack() {
        let text = render(&report());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "hits \"of\" a\\b;shop.Desk;serve(shop.Order, int);block 3 (line 41) 1000",
                "hits \"of\" a\\b;shop.Desk;serve(shop.Order, int);edge 3 to 4 (line 41) 7",
                "took;shop.Desk;serve(shop.Order, int) 5",
                "seen;shop.Desk;serve(shop.Order, int);call shop.Cart::add @17 4",
                "orders;ann: x;7 12",
                "orders;null;true 3",
                "cost 4",
                "owed;ann 2",
            ]
        );
    }
}
