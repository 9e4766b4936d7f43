//! The call graph for Graphviz. The sites of two methods are one arrow, with the sum of their counts
//! and their lines. Wider arrows have more calls.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;

use veneer_instruments::table::format_count;

use super::error::OutputError;
use crate::labels::Labels;
use crate::method::{MethodForm, MethodId};
use crate::selection::Selection;

/// The most lines that the text of an arrow names.
const MAX_LINES: usize = 4;

/// Writes the selected methods that were called, or that call, and their edges.
pub fn write(selection: &Selection, mut to: impl Write) -> Result<(), OutputError> {
    let profile = selection.profile;
    let labels = Labels::new(profile);
    let costs = profile.method_costs();
    let incoming = profile.incoming();
    let mut arrows: BTreeMap<(MethodId, MethodId), (u64, BTreeSet<u16>)> = BTreeMap::new();
    let mut used: BTreeSet<MethodId> = BTreeSet::new();
    for edge in selection.edges() {
        let (count, lines) = arrows.entry((edge.caller, edge.callee)).or_default();
        *count = count.saturating_add(edge.count);
        lines.extend(edge.site.line);
        used.extend([edge.caller, edge.callee]);
    }
    used.extend(selection.methods().filter(|id| costs[id.index()].calls > 0));
    writeln!(to, "digraph calls {{")?;
    writeln!(to, "  node [shape=box, fontname=\"Helvetica\"];")?;
    writeln!(to, "  edge [fontname=\"Helvetica\", fontsize=10];")?;
    for id in used {
        let residue = profile.residue(id, incoming[id.index()]);
        let mut label = format!(
            "{}\n{} calls",
            labels.label(id),
            format_count(costs[id.index()].calls)
        );
        if residue != 0 {
            let _ = write!(label, "\n{residue} from outside");
        }
        let style = match profile.method(id).form {
            MethodForm::Bytecode => "",
            MethodForm::Native => ", style=dashed",
            MethodForm::Overflow => ", style=dotted",
        };
        writeln!(to, "  m{} [label={}{style}];", id.0, quoted(&label))?;
    }
    let most = arrows.values().map(|(count, _)| *count).max().unwrap_or(0);
    for ((caller, callee), (count, lines)) in arrows {
        let mut label = format_count(count);
        for (index, line) in lines.iter().take(MAX_LINES).enumerate() {
            let _ = write!(label, "{}{line}", if index == 0 { "\nline " } else { ", " });
        }
        if lines.len() > MAX_LINES {
            label.push_str(", …");
        }
        let width = 1.0 + 4.0 * log_share(count, most);
        writeln!(
            to,
            "  m{} -> m{} [label={}, penwidth={width:.2}];",
            caller.0,
            callee.0,
            quoted(&label)
        )?;
    }
    writeln!(to, "}}")?;
    Ok(())
}

/// The logarithm of a count, relative to that of the greatest count: from 0 to 1.
fn log_share(count: u64, most: u64) -> f64 {
    let log = |count: u64| (count as f64 + 1.0).ln();
    match most {
        0 => 0.0,
        _ => log(count) / log(most),
    }
}

/// A string of the DOT language. A backslash would begin an escape sequence of a label.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push('\u{fffd}'),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
