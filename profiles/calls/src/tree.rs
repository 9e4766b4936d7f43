//! Trees for people: the call tree downwards, and the callers of methods upwards.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use veneer_instruments::table::{format_count, format_duration};
use veneer_text::replace_control_characters;

use crate::call::{CallEdge, Site};
use crate::context::{ContextCost, Origin, Parent};
use crate::labels::Labels;
use crate::measure::Measure;
use crate::method::MethodId;
use crate::profile::CallProfile;
use crate::selection::Selection;

/// A node of a tree, in depth-first order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// The number of nodes above.
    pub depth: u32,
    /// The method of the node.
    pub method: MethodId,
    /// The place of the call: in the method of the node above in the tree of calls, in this method
    /// in the tree of callers.
    pub site: Site,
    /// How the activations began.
    pub origin: Option<Origin>,
    /// The costs. In the tree of callers only the calls are known.
    pub cost: ContextCost,
    /// Whether the method occurs above, so that the tree of callers does not continue here.
    pub is_recursive: bool,
}

/// A tree and what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The nodes that are shown. A node follows the node above it.
    pub nodes: Vec<TreeNode>,
    /// The number of nodes that were left out because the tree is limited.
    pub omitted: u64,
}

/// The limits of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// The most nodes above a node.
    pub depth: u32,
    /// The most nodes.
    pub nodes: usize,
}

/// The call tree of the selected contexts. Siblings are ordered by the measure of the selection,
/// with callees included. The trees of all threads are shown after each other.
pub fn calls(selection: &Selection, limits: TreeLimits) -> Tree {
    let lines = site_lines(selection.profile);
    let mut children: HashMap<Parent, Vec<usize>> = HashMap::new();
    let nodes: Vec<_> = selection.context_nodes().collect();
    let below = inclusive(selection);
    for (index, (selected, _)) in nodes.iter().enumerate() {
        let parent = match selected.parent {
            Parent::Root(_) => Parent::Root(None),
            parent => parent,
        };
        children.entry(parent).or_default().push(index);
    }
    for siblings in children.values_mut() {
        siblings.sort_by_key(|index| (below[*index], std::cmp::Reverse(*index)));
    }
    let mut tree = Tree::default();
    let roots = children.get(&Parent::Root(None)).into_iter().flatten();
    let mut open: Vec<(u32, usize)> = roots.map(|index| (0, *index)).collect();
    while let Some((depth, index)) = open.pop() {
        let (selected, context) = nodes[index];
        if depth > limits.depth || tree.nodes.len() >= limits.nodes {
            tree.omitted += 1;
        } else {
            let caller = match context.parent {
                Parent::Context(parent) => {
                    Some(selection.profile.contexts()[parent.index()].method)
                }
                Parent::Root(_) => None,
            };
            let line = caller.zip(context.bci).and_then(|site| lines.get(&site));
            tree.nodes.push(TreeNode {
                depth,
                method: context.method,
                site: Site {
                    bci: context.bci,
                    line: line.copied(),
                },
                origin: Some(context.origin),
                cost: context.cost,
                is_recursive: false,
            });
        }
        let below = children.get(&Parent::Context(selected.id));
        let below = below.into_iter().flatten();
        open.extend(below.map(|index| (depth.saturating_add(1), *index)));
    }
    tree
}

/// The cost of each selected context by the measure, callees included where the measure allows it.
fn inclusive(selection: &Selection) -> Vec<u64> {
    let costs = selection
        .context_nodes()
        .map(|(_, context)| match selection.by {
            Measure::Count => context.cost.calls,
            Measure::Time => context.cost.wall_ns,
            Measure::Cpu => context.cost.cpu_ns,
            Measure::Allocations => context.cost.allocations,
        });
    costs.collect()
}

/// The line of each call site.
fn site_lines(profile: &CallProfile) -> HashMap<(MethodId, u16), u16> {
    let sites = profile.edges().iter().filter_map(|edge| {
        let site = (edge.caller, edge.site.bci?);
        Some((site, edge.site.line?))
    });
    sites.collect()
}

/// The callers of methods, upwards along the selected edges, with the count of each edge. The
/// callers of one method are ordered by their counts.
///
/// The graph does not say on whose behalf a caller called. So the counts of two levels are not parts
/// of each other; [`calls`] shows exact paths.
pub fn callers(selection: &Selection, targets: &[MethodId], limits: TreeLimits) -> Tree {
    let mut edges: HashMap<MethodId, BTreeMap<(MethodId, Site), u64>> = HashMap::new();
    for edge in selection.edges() {
        let CallEdge {
            caller,
            site,
            callee,
            count,
            ..
        } = edge;
        let callers = edges.entry(*callee).or_default();
        let sum = callers.entry((*caller, *site)).or_default();
        *sum = sum.saturating_add(*count);
    }
    let incoming = selection.profile.incoming();
    let costs = selection.profile.method_costs();
    let mut tree = Tree::default();
    // A path from a target to the caller that is next.
    let mut open: Vec<(Vec<MethodId>, Site, u64)> = Vec::new();
    for target in targets.iter().rev() {
        let calls = costs[target.index()].calls.max(incoming[target.index()]);
        open.push((vec![*target], Site::default(), calls));
    }
    while let Some((path, site, calls)) = open.pop() {
        let Some((method, above)) = path.split_last() else {
            continue;
        };
        let depth = above.len() as u32;
        if tree.nodes.len() >= limits.nodes {
            tree.omitted += 1;
            continue;
        }
        let is_recursive = above.contains(method);
        tree.nodes.push(TreeNode {
            depth,
            method: *method,
            site,
            origin: None,
            cost: ContextCost {
                calls,
                ..ContextCost::default()
            },
            is_recursive,
        });
        let callers = edges.get(method).into_iter().flatten();
        let mut callers: Vec<_> = callers.collect();
        if is_recursive {
            continue;
        }
        if depth >= limits.depth {
            tree.omitted += callers.len() as u64;
            continue;
        }
        callers
            .sort_by_key(|((caller, site), count)| (**count, std::cmp::Reverse((*caller, *site))));
        for ((caller, site), count) in callers {
            let mut path = path.clone();
            path.push(*caller);
            open.push((path, *site, *count));
        }
    }
    tree
}

impl Tree {
    /// The tree as text: a line for each node, indented by its depth.
    ///
    /// ```text
    ///        calls        wall        self  method
    ///            1    12.50 ms     0.10 ms  a.Main::main(java.lang.String[])
    ///        1,000    12.40 ms    12.40 ms    a.Desk::serve(int), line 12
    /// ```
    pub fn to_text(&self, labels: &Labels, with_times: bool) -> String {
        let mut text = match with_times {
            true => format!(
                "{:>15} {:>11} {:>11} {:>11}  method\n",
                "calls", "wall", "self", "cpu"
            ),
            false => format!("{:>15}  method\n", "calls"),
        };
        for node in &self.nodes {
            let _ = write!(text, "{:>15}", format_count(node.cost.calls));
            if with_times {
                for ns in [node.cost.wall_ns, node.cost.self_ns, node.cost.cpu_ns] {
                    let _ = write!(text, " {:>11}", format_duration(ns));
                }
            }
            let indent = "  ".repeat(node.depth as usize);
            let label = labels.label(node.method);
            let label = replace_control_characters(&label);
            let _ = write!(text, "  {indent}{label}");
            match (node.site.line, node.site.bci) {
                (Some(line), _) => {
                    let _ = write!(text, ", line {line}");
                }
                (None, Some(bci)) => {
                    let _ = write!(text, ", at {bci}");
                }
                (None, None) => {}
            }
            match node.origin {
                Some(Origin::Early) => text.push_str(" (began before the recording)"),
                Some(Origin::Call(kind)) if node.site == Site::default() && node.depth > 0 => {
                    let _ = write!(text, " ({kind})");
                }
                _ => {}
            }
            if node.is_recursive {
                text.push_str(" (recursive)");
            }
            text.push('\n');
        }
        if self.omitted > 0 {
            let _ = writeln!(
                text,
                "{} more; --depth and --top show more",
                format_count(self.omitted)
            );
        }
        text
    }
}
