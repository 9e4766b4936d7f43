//! Where a point is, as columns of a table.

/// `f3`, `f3->f5`, or nothing for the whole method.
pub(super) fn at(fragment: Option<u32>, to: Option<u32>) -> String {
    match (fragment, to) {
        (Some(from), Some(to)) => format!("f{from}->f{to}"),
        (Some(fragment), None) => format!("f{fragment}"),
        _ => String::new(),
    }
}

/// The source line, where it is known.
pub(super) fn line(line: Option<u16>) -> String {
    line.map(|line| line.to_string()).unwrap_or_default()
}
