//! Formats the position of a point as columns of a table.

use veneer_names::FragmentId;

/// Formats the fragment (`f3`) or the edge (`f3->f5`); empty for the whole method.
pub(super) fn fragment_or_edge(fragment: Option<FragmentId>, to: Option<FragmentId>) -> String {
    match (fragment, to) {
        (Some(from), Some(to)) => format!("{from}->{to}"),
        (Some(fragment), None) => fragment.to_string(),
        _ => String::new(),
    }
}

/// Formats the source line; empty if the line is unknown.
pub(super) fn line(line: Option<u16>) -> String {
    line.map(|line| line.to_string()).unwrap_or_default()
}
