//! The folded tree of a thread as JSON. The names are those of the columns of queries.

use serde_json::{Map, Value, json};
use veneer_traces::Findings;
use veneer_traces::analysis::{FoldedItem, FoldedNode};

/// The tree of a thread. `not_seen` has the findings that are not 0.
pub fn thread_json(thread: u32, name: &str, findings: &Findings, tree: &FoldedNode) -> Value {
    let found = findings.list().into_iter().filter(|(_, count)| *count > 0);
    let not_seen: Map<String, Value> = found
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    json!({
        "thread": thread,
        "thread_name": name,
        "wall": tree.wall_ns,
        "not_seen": not_seen,
        "left_out": tree.left_out,
        "items": items_json(&tree.items),
    })
}

fn items_json(items: &[FoldedItem]) -> Vec<Value> {
    items.iter().map(item_json).collect()
}

/// A node, or a block, which has no method.
fn item_json(item: &FoldedItem) -> Value {
    let Some(node) = &item.node else {
        return json!({ "count": item.count, "items": items_json(&item.block) });
    };
    let corrected = node.corrected;
    json!({
        "method": node.text,
        "count": item.count,
        "wall": node.wall_ns,
        "self": node.self_ns,
        "cpu": node.cpu_ns,
        "corrected": corrected.map(|times| times.wall_ns),
        "corrected_self": corrected.map(|times| times.self_ns),
        "unexplained": corrected.map(|times| times.unexplained_ns),
        "left_out": node.left_out,
        "items": items_json(&node.items),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_traces::analysis::CorrectedTimes;

    #[test]
    fn a_node_has_its_times_and_a_block_has_its_items() {
        let node = FoldedNode {
            text: "a.B::m".into(),
            wall_ns: 90,
            self_ns: 90,
            corrected: Some(CorrectedTimes {
                wall_ns: 60,
                self_ns: 50,
                unexplained_ns: 2,
            }),
            ..FoldedNode::default()
        };
        let item = FoldedItem {
            count: 3,
            block: Vec::new(),
            node: Some(node),
        };
        let block = FoldedItem {
            count: 40,
            block: vec![item],
            node: None,
        };
        let tree = FoldedNode {
            wall_ns: 4_000,
            items: vec![block],
            ..FoldedNode::default()
        };
        let findings = Findings {
            lost_events: 5,
            ..Findings::default()
        };
        let value = thread_json(7, "main", &findings, &tree);
        assert_eq!(value["thread"], 7);
        assert_eq!(value["not_seen"].as_object().unwrap().len(), 1);
        let block = &value["items"][0];
        assert_eq!(
            (&block["count"], &block["method"]),
            (&json!(40), &json!(null))
        );
        let node = &block["items"][0];
        assert_eq!(
            (&node["method"], &node["count"]),
            (&json!("a.B::m"), &json!(3))
        );
        assert_eq!(
            (&node["wall"], &node["corrected"]),
            (&json!(90), &json!(60))
        );
        assert_eq!(
            (&node["cpu"], &node["unexplained"]),
            (&json!(null), &json!(2))
        );
    }
}
