//! The coloured call graph of a search (Fig. 3 of Brear et al., 2003), as a text tree and in the
//! DOT language of Graphviz. `svg.rs` draws the tree.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::hypothesis::Hypothesis;
use crate::place::{MethodId, Place};
use crate::search::Search;

/// The most steps by which a row is indented. Deeper rows have the same indentation.
pub(crate) const MAX_INDENT: usize = 40;

/// The state of a method in the call graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NodeState {
    /// The method has this share, which exceeds the threshold.
    Holds(f64),
    RuledOut(f64),
    Open,
}

impl NodeState {
    /// Returns the colour in the form that DOT has for hue, saturation and value. Methods above the
    /// threshold are red, the stronger the larger their share; undecided methods are grey.
    fn dot_color(self) -> String {
        match self {
            NodeState::Holds(share) => format!("0.0 {:.2} 1.0", saturation(share)),
            NodeState::RuledOut(_) => "white".to_string(),
            NodeState::Open => "gray90".to_string(),
        }
    }

    /// Returns the share in words.
    pub(crate) fn text(self) -> String {
        match self {
            NodeState::Holds(share) | NodeState::RuledOut(share) => {
                format!("{:.1} %", share * 100.0)
            }
            NodeState::Open => "undecided".to_string(),
        }
    }
}

/// Returns the saturation of the red of a method above the threshold, from 0.2 to 1.
pub(crate) fn saturation(share: f64) -> f64 {
    0.2 + 0.8 * share.clamp(0.0, 1.0)
}

/// One row of the call graph as an indented tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TreeRow {
    pub(crate) name: String,
    pub(crate) state: NodeState,
    /// The number of callers between a top and the method.
    pub(crate) depth: usize,
    /// The row of the caller.
    pub(crate) caller: Option<usize>,
    /// Whether an earlier row shows the same method with its callees.
    pub(crate) is_repeated: bool,
}

impl Search {
    pub(crate) fn node_state(&self, place: Place) -> Option<NodeState> {
        let i = self.index.get(&Hypothesis::time(place))?;
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

    /// Returns the examined loops of a method, in the order of their lines.
    pub(crate) fn examined_loops(
        &self,
        method: MethodId,
    ) -> impl DoubleEndedIterator<Item = Place> {
        let first = Hypothesis::time(Place::Loop { method, line: 0 });
        let all = self.index.range(first..).map(|(hypothesis, _)| *hypothesis);
        let is_here =
            move |h: &Hypothesis| matches!(h.place, Place::Loop { method: m, .. } if m == method);
        let here: Vec<Place> = all
            .take_while(is_here)
            .filter(|h| *h == Hypothesis::time(h.place))
            .map(|h| h.place)
            .collect();
        here.into_iter()
    }

    /// Returns the name of a node: that of a method, or the line of a loop.
    fn node_name(&self, place: Place) -> String {
        match place.line() {
            None => self.method_name(place.method()),
            Some(line) => format!("loop at {}:{line}", self.file(place.method())),
        }
    }

    /// Returns the call graph of the examined methods as a tree. The examined loops of a method are
    /// below it, before its callees. A method with several callers has its callees below the first one.
    pub(crate) fn tree(&self) -> Vec<TreeRow> {
        let mut rows: Vec<TreeRow> = Vec::new();
        let mut shown = BTreeSet::new();
        let mut stack: Vec<(Place, usize, Option<usize>)> = self
            .tops()
            .into_iter()
            .rev()
            .map(|m| (Place::Method(m), 0, None))
            .collect();
        // The stack is explicit, because a program's recursion can be 10,000 methods deep.
        while let Some((place, depth, caller)) = stack.pop() {
            let Some(state) = self.node_state(place) else {
                continue;
            };
            let is_new = shown.insert(place);
            if let (true, Place::Method(method)) = (is_new, place) {
                let row = Some(rows.len());
                let callees = self.examined_callees(method).map(Place::Method);
                let below = callees.chain(self.examined_loops(method).rev());
                stack.extend(below.map(|place| (place, depth + 1, row)));
            }
            rows.push(TreeRow {
                name: self.node_name(place),
                state,
                depth,
                caller,
                is_repeated: !is_new,
            });
        }
        rows
    }

    /// Returns the call graph of the examined methods as an indented text. `*` marks a method that
    /// exceeds the threshold, `-` one that was ruled out, and `?` an undecided one. A method with
    /// several callers is shown below the first one; other callers show its name and `…`.
    pub fn text_tree(&self) -> String {
        let mut text = String::new();
        for row in self.tree() {
            let (mark, share) = match row.state {
                NodeState::Holds(_) => ("*", row.state.text()),
                NodeState::RuledOut(_) => ("-", row.state.text()),
                NodeState::Open => ("?", String::new()),
            };
            let again = if row.is_repeated { " …" } else { "" };
            let line = format!(
                "{mark} {:indent$}{}{again}  {share}",
                "",
                row.name,
                indent = 2 * row.depth.min(MAX_INDENT)
            );
            text.push_str(line.trim_end());
            text.push('\n');
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
                let share = match self.node_state(Place::Method(callee))? {
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

    /// Returns the call graph of the examined methods in the DOT language of Graphviz.
    pub fn dot(&self) -> String {
        let mut text = String::from(
            "digraph search {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n",
        );
        let nodes = self.candidates.iter().filter(|c| c.hypothesis.is_node());
        let methods: BTreeSet<MethodId> = nodes.map(|c| c.hypothesis.place.method()).collect();
        for method in &methods {
            self.write_dot_node(&mut text, &format!("m{}", method.0), Place::Method(*method));
            for place in self.examined_loops(*method) {
                let id = format!("m{}l{}", method.0, place.line().unwrap_or(0));
                self.write_dot_node(&mut text, &id, place);
                // Writing to a string cannot fail.
                let _ = writeln!(text, "  m{} -> {id} [style=dashed];", method.0);
            }
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

    fn write_dot_node(&self, text: &mut String, id: &str, place: Place) {
        let state = self.node_state(place).unwrap_or(NodeState::Open);
        let (color, share) = (state.dot_color(), state.text());
        let name = self
            .node_name(place)
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {id} [label=\"{name}\\n{share}\", fillcolor=\"{color}\"];"
        );
    }
}
