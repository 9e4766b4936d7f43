//! Collapsed stacks, the input format of flame graph tools. A line has frames joined by `;`, a
//! space and a weight.
//!
//! ```text
//!   hits;shop.Desk;serve(shop.Order, int);block 3 (line 41) 1000    counter: hits
//!   took;shop.Desk;serve(shop.Order, int) 34567                     timer: total microseconds
//!   orders;ann;book 12                                              table: name, keys; count
//!   made;shop.Main.main;shop.Desk.serve;shop.Cart 7                 call stack, then other keys
//!   calls;shop.Main.main;shop.Desk.serve 4711                       call tree: own count or sum
//! ```
//!
//! Code of a plan whose figures are in tables is left out if the plan has not named it: its source
//! text would be a second root beside that of the table.
//!
//! The weight of an entry of a `distinct` table is the number of different values. The root frame
//! is the name of the instrument or table, because counts of different instruments have no
//! meaningful sum.

mod call_tree;
mod stack_line;

use std::fmt::Write;

use indexmap::IndexMap;
use serde_json::Value;
use veneer_names::java_signature;
use veneer_protocol::{
    EntryMetrics, Instrument, InstrumentKind, Measurement, PointRow, Report, Table,
};
use veneer_text::clean_frame;

use stack_line::method_of_line;

/// The stacks of a report, one line each. Stacks with weight 0 are omitted.
pub fn render(report: &Report) -> String {
    let mut stacks: IndexMap<String, u64> = IndexMap::new();
    let mut add = |frames: Vec<String>, number: u64| {
        if number > 0 {
            let stack: Vec<String> = frames.iter().map(|frame| clean_frame(frame)).collect();
            let sum = stacks.entry(stack.join(";")).or_default();
            *sum = sum.saturating_add(number);
        }
    };
    for instrument in &report.instruments {
        if is_unnamed_code(instrument) && has_tables(report, &instrument.plan) {
            continue;
        }
        for point in &instrument.points {
            add(point_frames(instrument, point), weight(point.data));
        }
    }
    for table in &report.tables {
        if table.call_tree {
            for (frames, number) in call_tree::stacks(table) {
                add(frames, number);
            }
            continue;
        }
        for entry in &table.entries {
            let number = match entry.figures {
                // `last` and `sample` store single combinations, which have no count.
                EntryMetrics::Occurrence { .. } => continue,
                EntryMetrics::Distinct { distinct, .. } => distinct,
                _ => entry.figures.count(),
            };
            add(entry_frames(table, &entry.keys), number);
        }
    }
    let mut text = String::new();
    for (stack, sum) in stacks {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{stack} {sum}");
    }
    text
}

fn weight(data: Measurement) -> u64 {
    match data {
        Measurement::Count { hits } => hits,
        Measurement::Time { total_ns, .. } => total_ns / 1000,
        Measurement::Log { events, .. } => events,
    }
}

/// Whether the instrument is code without a name. The agent then uses its source text as the name.
fn is_unnamed_code(instrument: &Instrument) -> bool {
    instrument.kind == InstrumentKind::Code && instrument.name.starts_with("|p| {")
}

fn has_tables(report: &Report, plan: &str) -> bool {
    report.tables.iter().any(|table| table.plan == plan)
}

fn point_frames(instrument: &Instrument, point: &PointRow) -> Vec<String> {
    let name = match is_unnamed_code(instrument) {
        true => "code".to_owned(),
        false => instrument.name.clone(),
    };
    let mut frames = vec![name, point.class.clone(), java_signature(&point.method)];
    let line = point.line.map(|line| format!(" (line {line})"));
    let line = line.unwrap_or_default();
    match (point.fragment, point.to, &point.what) {
        (_, _, Some(what)) => frames.push(format!("{what}{line}")),
        (Some(from), Some(to), _) => frames.push(format!("edge {} to {}{line}", from.0, to.0)),
        (Some(fragment), None, _) => frames.push(format!("block {}{line}", fragment.0)),
        (None, ..) => {}
    }
    frames
}

fn entry_frames(table: &Table, keys: &[Value]) -> Vec<String> {
    let mut frames = vec![table.name.clone()];
    // The call stack precedes the other keys and begins with the outermost method. So the other
    // keys appear as callees of the innermost method.
    let stacks = keys.iter().filter_map(Value::as_array).flatten();
    let methods: Vec<String> = stacks
        .filter_map(Value::as_str)
        .map(method_of_line)
        .collect();
    frames.extend(methods.into_iter().rev());
    frames.extend(keys.iter().filter_map(|key| match key {
        Value::Array(_) => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }));
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::sample::report;

    #[test]
    fn a_call_stack_comes_before_the_other_keys() {
        let mut report = report();
        report.instruments.clear();
        report.tables.truncate(1);
        for table in &mut report.tables {
            table.entries.truncate(1);
            for entry in &mut table.entries {
                let stack = serde_json::json!(["a.B.m:7", "a.B.main"]);
                entry.keys = vec![Value::from("ann"), stack];
            }
        }
        assert_eq!(render(&report), "orders;a.B.main;a.B.m;ann 12\n");
    }

    #[test]
    fn the_source_text_of_code_is_no_frame() {
        let mut report = report();
        for instrument in &mut report.instruments {
            if instrument.kind == InstrumentKind::Code {
                instrument.name = "|p| { t22.count(stack(32)); } before method of a.B".into();
            }
        }
        let text = render(&report);
        assert!(
            !text.contains("stack(32)") && !text.contains("@17"),
            "{text}"
        );
        // Code without tables has no other figures.
        report.tables.clear();
        let text = render(&report);
        let line = "code;shop.Desk;serve(shop.Order, int);call shop.Cart::add @17 4\n";
        assert!(text.ends_with(line), "{text}");
    }

    #[test]
    fn each_count_is_a_stack() {
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
                "width 6",
                "often;ann 40",
                "users;shop 5",
                "paths;/a 70",
            ]
        );
    }
}
