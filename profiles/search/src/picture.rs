//! The coloured call graph of a search (Fig. 3 of Brear et al., 2003), as a text tree and in the
//! DOT language of Graphviz. `dot -Tsvg` makes a picture of the latter.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::hypothesis::Hypothesis;
use crate::place::MethodId;
use crate::search::Search;

/// The state of a method in the call graph.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NodeState {
    /// The method exceeds the threshold by this share.
    Holds(f64),
    RuledOut(f64),
    Open,
}

impl Search {
    fn node_state(&self, method: MethodId) -> Option<NodeState> {
        let i = self.index.get(&Hypothesis::method(method))?;
        let candidate = &self.candidates[*i];
        let share = candidate.figures().0.low;
        Some(if self.is_finding(candidate) {
            NodeState::Holds(share)
        } else if candidate.was_decided() {
            NodeState::RuledOut(share)
        } else {
            NodeState::Open
        })
    }

    /// Returns the examined methods that no other examined method calls, and the roots.
    fn tops(&self) -> Vec<MethodId> {
        let examined = |m: &MethodId| self.index.contains_key(&Hypothesis::method(*m));
        let all = self.candidates.iter().filter(|c| c.hypothesis.is_node());
        let mut tops: Vec<MethodId> = all
            .map(|c| c.hypothesis.place.method())
            .filter(|m| {
                let mut callers = self.graph.callers(*m);
                self.roots.contains(m) || !callers.any(|c| c != *m && examined(&c))
            })
            .collect();
        tops.sort();
        tops
    }

    /// Returns the call graph of the examined methods as an indented text. `*` marks a method that
    /// exceeds the threshold, `-` one that was ruled out, and `?` an undecided one. A method with
    /// several callers is shown below the first one; other callers show its name and `…`.
    pub fn text_tree(&self) -> String {
        let mut text = String::new();
        let mut shown = BTreeSet::new();
        let mut stack: Vec<(MethodId, usize)> =
            self.tops().into_iter().rev().map(|m| (m, 0)).collect();
        // The stack is explicit, because a program's recursion can be 10,000 methods deep.
        while let Some((method, depth)) = stack.pop() {
            let Some(state) = self.node_state(method) else {
                continue;
            };
            let (mark, share) = match state {
                NodeState::Holds(share) => ("*", format!("{:.1} %", share * 100.0)),
                NodeState::RuledOut(share) => ("-", format!("{:.1} %", share * 100.0)),
                NodeState::Open => ("?", String::new()),
            };
            let name = self.method_name(method);
            let is_new = shown.insert(method);
            let again = if is_new { "" } else { " …" };
            let line = format!(
                "{mark} {:indent$}{name}{again}  {share}",
                "",
                indent = 2 * depth.min(40)
            );
            text.push_str(line.trim_end());
            text.push('\n');
            if is_new {
                stack.extend(self.examined_callees(method).map(|m| (m, depth + 1)));
            }
        }
        text
    }

    /// Returns the examined callees of a method, the one with the largest share last.
    fn examined_callees(&self, method: MethodId) -> impl Iterator<Item = MethodId> {
        let mut all: Vec<(f64, MethodId)> = self
            .graph
            .callees(method)
            .filter(|(callee, _)| *callee != method)
            .filter_map(|(callee, _)| {
                let share = match self.node_state(callee)? {
                    NodeState::Holds(share) => 1.0 + share,
                    NodeState::RuledOut(share) => share,
                    NodeState::Open => 0.0,
                };
                Some((share, callee))
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        all.into_iter().map(|(_, callee)| callee)
    }

    /// Returns the call graph of the examined methods in the DOT language. Methods above the
    /// threshold are red, the stronger the larger their share; undecided methods are grey.
    pub fn dot(&self) -> String {
        let mut text = String::from(
            "digraph search {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n",
        );
        let nodes = self.candidates.iter().filter(|c| c.hypothesis.is_node());
        let methods: BTreeSet<MethodId> = nodes.map(|c| c.hypothesis.place.method()).collect();
        for method in &methods {
            let (color, share) = match self.node_state(*method) {
                Some(NodeState::Holds(share)) => {
                    // Hue 0 is red; the saturation grows with the share.
                    (format!("0.0 {:.2} 1.0", 0.2 + 0.8 * share.min(1.0)), share)
                }
                Some(NodeState::RuledOut(share)) => ("white".to_string(), share),
                Some(NodeState::Open) | None => ("gray90".to_string(), f64::NAN),
            };
            let share = if share.is_nan() {
                "undecided".to_string()
            } else {
                format!("{:.1} %", share * 100.0)
            };
            let name = self
                .method_name(*method)
                .replace('\\', "\\\\")
                .replace('"', "\\\"");
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "  m{} [label=\"{name}\\n{share}\", fillcolor=\"{color}\"];",
                method.0
            );
        }
        for caller in &methods {
            for (callee, _) in self.graph.callees(*caller) {
                if methods.contains(&callee) {
                    let _ = writeln!(text, "  m{} -> m{};", caller.0, callee.0);
                }
            }
        }
        text.push_str("}\n");
        text
    }
}
