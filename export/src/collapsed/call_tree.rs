//! The stacks of a table that is a call tree.
//!
//! ```text
//!   keys: path, caller's path, method        calls;Main.main 10
//!         5     0              Main.main  ─▶ calls;Main.main;Desk.serve 70
//!         9     5              Desk.serve
//! ```
//!
//! The sum of an entry includes the calls below. The weight of a stack is the rest, so that the
//! weights of a flame graph add up.

use std::collections::HashMap;

use serde_json::Value;
use veneer_protocol::{EntryMetrics, Table};

use super::stack_line::method_of_line;

/// The most frames of a stack. Deeper paths, which only damaged tables have, are cut.
const MAX_DEPTH: usize = 1_000;

/// A call path.
struct Node {
    caller: i64,
    method: String,
    /// Count, or sum with the calls below.
    whole: i64,
}

/// The stacks of the tree with their own counts or sums, in the order of the entries. Entries that
/// are no nodes are left out.
pub(super) fn stacks(table: &Table) -> Vec<(Vec<String>, u64)> {
    let mut order = Vec::new();
    let mut nodes: HashMap<i64, Node> = HashMap::new();
    let mut below: HashMap<i64, i64> = HashMap::new();
    for entry in &table.entries {
        let [
            Value::Number(path),
            Value::Number(caller),
            Value::String(method),
        ] = entry.keys.as_slice()
        else {
            continue;
        };
        let (Some(path), Some(caller)) = (path.as_i64(), caller.as_i64()) else {
            continue;
        };
        let whole = match entry.figures {
            EntryMetrics::Sums { sum, .. } => sum,
            _ => i64::try_from(entry.figures.count()).unwrap_or(i64::MAX),
        };
        if matches!(entry.figures, EntryMetrics::Sums { .. }) {
            let sum = below.entry(caller).or_default();
            *sum = sum.saturating_add(whole);
        }
        order.push(path);
        let method = method_of_line(method);
        nodes.insert(
            path,
            Node {
                caller,
                method,
                whole,
            },
        );
    }
    let stack = |path: i64| {
        let own = nodes.get(&path)?.whole;
        let own = own.saturating_sub(below.get(&path).copied().unwrap_or(0));
        // A call that has not ended is not in the sum, and those below it are.
        let own = u64::try_from(own).unwrap_or(0);
        Some((frames(table, &nodes, path), own))
    };
    order.into_iter().filter_map(stack).collect()
}

/// The frames of a path, the name of the table first.
fn frames(table: &Table, nodes: &HashMap<i64, Node>, path: i64) -> Vec<String> {
    let callers = std::iter::successors(nodes.get(&path), |node| nodes.get(&node.caller));
    let mut frames: Vec<String> = callers
        .take(MAX_DEPTH)
        .map(|node| node.method.clone())
        .collect();
    frames.push(table.name.clone());
    frames.reverse();
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use veneer_protocol::{TableEntry, TableKind};

    fn table(entries: &[(i64, i64, &str, i64)]) -> Table {
        let entry = |(path, caller, method, sum): &(i64, i64, &str, i64)| TableEntry {
            keys: vec![json!(path), json!(caller), json!(method)],
            figures: EntryMetrics::Sums {
                count: 2,
                sum: *sum,
                min: 0,
                max: *sum,
            },
        };
        Table {
            id: "t1".into(),
            name: "calls".into(),
            kind: TableKind::Sums,
            plan: "tree.rhai".into(),
            call_tree: true,
            attached: true,
            entries: entries.iter().map(entry).collect(),
            omitted: 0,
            rest: EntryMetrics::Count { count: 0 },
        }
    }

    fn lines(table: &Table) -> Vec<String> {
        let line = |(frames, own): (Vec<String>, u64)| format!("{} {own}", frames.join(";"));
        stacks(table).into_iter().map(line).collect()
    }

    #[test]
    fn the_weight_of_a_path_is_its_own_sum() {
        let tree = table(&[
            (-9, 5, "a.Desk.serve:7", 70),
            (5, 0, "a.Main.main:3", 100),
            (6, -9, "a.Cart.add", 30),
        ]);
        assert_eq!(
            lines(&tree),
            [
                "calls;a.Main.main;a.Desk.serve 40",
                "calls;a.Main.main 30",
                "calls;a.Main.main;a.Desk.serve;a.Cart.add 30",
            ]
        );
    }

    #[test]
    fn open_calls_unknown_callers_and_cycles_are_harmless() {
        let tree = table(&[(5, 0, "a", 10), (6, 5, "b", 70), (7, 99, "c", 1)]);
        assert_eq!(lines(&tree), ["calls;a 0", "calls;a;b 70", "calls;c 1"]);
        let cycle = table(&[(1, 2, "a", 1), (2, 1, "b", 2)]);
        assert_eq!(lines(&cycle).len(), 2);
        let mut other = table(&[(1, 0, "a", 1)]);
        other.entries[0].keys.pop();
        assert_eq!(lines(&other), [""; 0]);
        let mut counts = table(&[(1, 0, "a", 1), (2, 1, "b", 1)]);
        for entry in &mut counts.entries {
            entry.figures = EntryMetrics::Count { count: 7 };
        }
        assert_eq!(lines(&counts), ["calls;a 7", "calls;a;b 7"]);
    }
}
