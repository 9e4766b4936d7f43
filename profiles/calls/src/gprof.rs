//! The callers and callees of each method, as gprof shows them (Graham, Kessler and McKusick,
//! *gprof: a call graph execution profiler*, PLDI 1982).
//!
//! gprof distributes the time of a callee over its callers by the number of their calls, as if all
//! calls took equally long. Here the times of an arc are exact, because they are those of the
//! contexts. A profile without contexts has counts only.

use std::collections::BTreeMap;
use std::fmt::Write;

use veneer_instruments::table::{format_count, format_duration};
use veneer_text::replace_control_characters;

use crate::context::Parent;
use crate::cost::MethodCost;
use crate::labels::Labels;
use crate::measure::Measure;
use crate::method::MethodId;
use crate::selection::Selection;

/// The calls of one method by another one. All times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arc {
    /// The number of calls.
    pub calls: u64,
    /// The wall time of the callee itself in these calls.
    pub self_ns: u64,
    /// The wall time of the callee's callees in these calls. Recursive calls have none, because the
    /// outermost call includes it.
    pub descendants_ns: u64,
}

/// A method with its callers and callees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The method of the table.
    pub method: MethodId,
    /// Its costs from all callers together.
    pub cost: MethodCost,
    /// The entries that no edge explains.
    pub residue: i128,
    /// The callers, those with the fewest calls first, as gprof orders them.
    pub callers: Vec<(MethodId, Arc)>,
    /// The callees, those with the most calls first.
    pub callees: Vec<(MethodId, Arc)>,
}

/// The entries of the selected methods that were called, ordered by their costs with callees.
pub fn entries(selection: &Selection) -> Vec<Entry> {
    let profile = selection.profile;
    let costs = profile.method_costs();
    let incoming = profile.incoming();
    let mut callers: BTreeMap<MethodId, Vec<(MethodId, Arc)>> = BTreeMap::new();
    let mut callees: BTreeMap<MethodId, Vec<(MethodId, Arc)>> = BTreeMap::new();
    for ((caller, callee), arc) in arcs(selection) {
        callers.entry(callee).or_default().push((caller, arc));
        callees.entry(caller).or_default().push((callee, arc));
    }
    let is_shown = |id: &MethodId| costs[id.index()].calls > 0 || callees.contains_key(id);
    let shown: Vec<MethodId> = selection.methods().filter(is_shown).collect();
    let mut entries: Vec<Entry> = shown
        .into_iter()
        .map(|id| {
            let mut callers = callers.remove(&id).unwrap_or_default();
            let mut callees = callees.remove(&id).unwrap_or_default();
            let order = |(_, arc): &(MethodId, Arc)| arc.self_ns.saturating_add(arc.descendants_ns);
            callers.sort_by_key(|one| (order(one), one.1.calls, one.0));
            callees.sort_by_key(|one| std::cmp::Reverse((order(one), one.1.calls, one.0)));
            Entry {
                method: id,
                cost: costs[id.index()],
                residue: profile.residue(id, incoming[id.index()]),
                callers,
                callees,
            }
        })
        .collect();
    let weight = |cost: &MethodCost| match selection.by {
        Measure::Time => cost.wall_ns,
        Measure::Cpu => cost.cpu_ns,
        by => cost.by(by),
    };
    entries.sort_by_key(|entry| (std::cmp::Reverse(weight(&entry.cost)), entry.method));
    entries
}

/// The calls between each two selected methods. The calls are those of the graph; if the profile has
/// no graph, they are those of the contexts.
fn arcs(selection: &Selection) -> BTreeMap<(MethodId, MethodId), Arc> {
    let profile = selection.profile;
    let mut arcs: BTreeMap<(MethodId, MethodId), Arc> = BTreeMap::new();
    for edge in selection.edges() {
        let arc = arcs.entry((edge.caller, edge.callee)).or_default();
        arc.calls = arc.calls.saturating_add(edge.count);
    }
    let outermost = profile.outermost_contexts();
    for (selected, context) in selection.context_nodes() {
        let Parent::Context(parent) = selected.parent else {
            continue;
        };
        let caller = profile.contexts()[parent.index()].method;
        let arc = arcs.entry((caller, context.method)).or_default();
        let cost = &context.cost;
        if profile.edges().is_empty() {
            arc.calls = arc.calls.saturating_add(cost.calls);
        }
        arc.self_ns = arc.self_ns.saturating_add(cost.self_ns);
        if outermost[selected.id.index()] {
            let below = cost.wall_ns.saturating_sub(cost.self_ns);
            arc.descendants_ns = arc.descendants_ns.saturating_add(below);
        }
    }
    arcs
}

/// The entries as text. Above each method are its callers, below it its callees:
///
/// ```text
///        self  descendants              calls  method
///     1.00 ms      2.00 ms          500/1,500      a.Main::main(java.lang.String[])
///     2.00 ms      4.00 ms        1,000/1,500      a.Desk::open()
///     3.00 ms      6.00 ms              1,500  a.Desk::serve(int)
///     6.00 ms         0 ns      1,500/300,000      a.Desk::look()
/// ```
///
/// The calls of a caller or callee are a part of all calls of the called method.
pub fn to_text(entries: &[Entry], costs: &[MethodCost], labels: &Labels) -> String {
    let mut text = format!(
        "{:>11} {:>12} {:>25}  method\n",
        "self", "descendants", "calls"
    );
    let mut line = |arc: Arc, calls: &str, indent: &str, name: &str| {
        let own = format_duration(arc.self_ns);
        let below = format_duration(arc.descendants_ns);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{own:>11} {below:>12} {calls:>25}  {indent}{name}");
    };
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            line(Arc::default(), "", "", "-");
        }
        let all = entry.cost.calls;
        let of = |part: u64, all: u64| format!("{}/{}", format_count(part), format_count(all));
        if entry.residue != 0 {
            let residue = format!("{}/{}", entry.residue, format_count(all));
            line(Arc::default(), &residue, "    ", "[not recorded]");
        }
        for (caller, arc) in &entry.callers {
            line(
                *arc,
                &of(arc.calls, all),
                "    ",
                &replace_control_characters(&labels.label(*caller)),
            );
        }
        let own = Arc {
            calls: all,
            self_ns: entry.cost.self_ns,
            descendants_ns: entry.cost.wall_ns.saturating_sub(entry.cost.self_ns),
        };
        line(
            own,
            &format_count(all),
            "",
            &replace_control_characters(&labels.label(entry.method)),
        );
        for (callee, arc) in &entry.callees {
            let all = costs[callee.index()].calls;
            line(
                *arc,
                &of(arc.calls, all),
                "    ",
                &replace_control_characters(&labels.label(*callee)),
            );
        }
    }
    text
}
