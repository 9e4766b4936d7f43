//! Renders the entries of a table that probes fill.

use super::foot::{TABLE_WIDTH, render_with_foot};
use super::outputs::{cells, columns};
use super::text::format_count;
use crate::{Tally, TallyKind};
use veneer_text::{ColumnFormat, TextTable};

/// Renders the first `n` entries of a table, and a line with the totals of all entries. For a table
/// of single values, the newest `n` entries are rendered.
///
/// `titles` are names of columns from the left. The columns after them have the names of the kind.
pub fn render_tally(tally: &Tally, kind: TallyKind, n: usize, titles: &[String]) -> String {
    render_tally_within(tally, kind, n, titles, TABLE_WIDTH)
}

/// Renders as [`render_tally`] does, within `width` columns of a terminal.
pub fn render_tally_within(
    tally: &Tally,
    kind: TallyKind,
    n: usize,
    titles: &[String],
    width: usize,
) -> String {
    let entries = &tally.entries;
    let keys = entries.iter().map(|e| e.keys.len()).max().unwrap_or(0);
    let shown = if kind.has_occurrences() {
        &entries[entries.len().saturating_sub(n)..]
    } else {
        &entries[..n.min(entries.len())]
    };
    let names = columns(kind).iter();
    let mut columns: Vec<(&str, ColumnFormat)> =
        names.map(|name| (*name, ColumnFormat::Right)).collect();
    let name = if kind.has_occurrences() {
        "value"
    } else {
        "key"
    };
    columns.extend((0..keys).map(|_| (name, ColumnFormat::ShrinkName)));
    for (column, title) in columns.iter_mut().zip(titles) {
        column.0 = title;
    }
    let mut table = TextTable::new(&columns);
    for entry in shown {
        let mut cells = cells(entry, kind);
        let key = |k| entry.keys.get(k).map_or(String::new(), ToString::to_string);
        cells.extend((0..keys).map(key));
        table.push_row(cells);
    }
    let all = entries.iter().fold(0u64, |n, e| n.saturating_add(e.count));
    let mut foot = match kind {
        TallyKind::Last => format!("{} values", format_count(all)),
        TallyKind::Sample => format!(
            "{} of {} values",
            format_count(all),
            format_count(tally.total())
        ),
        _ => format!(
            "{} in {} entries",
            format_count(all),
            format_count(entries.len() as u64)
        ),
    };
    if shown.len() < entries.len() {
        foot += &format!(", of which {} are shown", shown.len());
    }
    // The rest of a sample is the values that were not drawn, so no value was lost.
    if tally.rest.count > 0 && kind != TallyKind::Sample {
        foot += &format!("; {} more found no room", format_count(tally.rest.count));
    }
    if entries.is_empty() {
        foot
    } else {
        render_with_foot(table, &foot, width)
    }
}
