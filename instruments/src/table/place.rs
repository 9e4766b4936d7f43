//! Formats the position of a point as columns of a table.

/// Formats the fragment (`f3`) or the edge (`f3->f5`); empty for the whole method.
pub(super) fn fragment_or_edge(fragment: Option<u32>, to: Option<u32>) -> String {
    match (fragment, to) {
        (Some(from), Some(to)) => format!("f{from}->f{to}"),
        (Some(fragment), None) => format!("f{fragment}"),
        _ => String::new(),
    }
}

/// Formats the source line; empty if the line is unknown.
pub(super) fn line(line: Option<u16>) -> String {
    line.map(|line| line.to_string()).unwrap_or_default()
}
