//! Renders the rows of an instrument as a table.
//!
//! ```text
//!        hits  share  class              method     at      line
//!   1,234,567  61.2%  route.Edge         isMe(int)  f0       41
//!     782,000  38.8%  route.Netw…Heap    sift(int)  f2->f3  107
//!   2,016,567 in 2 rows
//! ```
//!
//! The rows are sorted by weight, heaviest first: by hits, or by total time for timers. A long
//! class name is shortened in the middle, so that the top package and the simple name remain
//! readable.

use super::foot::{TABLE_WIDTH, render_with_foot};
use super::place::{fragment_or_edge, line};
use super::text::{self, format_count, format_duration};
use crate::{Measurement, PointRow};
use veneer_text::{ColumnFormat, TextTable};

/// Renders the `n` heaviest rows of one instrument as a table. The last line shows the number of rows
/// and, except for timers, the total of all rows. The kind of the data determines the columns; rows of different kinds get separate
/// tables.
pub fn render_rows(rows: &[PointRow], n: usize) -> String {
    render_rows_within(rows, n, TABLE_WIDTH)
}

/// Renders as [`render_rows`] does, within `width` columns of a terminal.
pub fn render_rows_within(rows: &[PointRow], n: usize, width: usize) -> String {
    let mut tables = Vec::new();
    for same in [is_count, is_time, is_log] {
        let mut chosen: Vec<&PointRow> = rows.iter().filter(|row| same(&row.data)).collect();
        if chosen.is_empty() {
            continue;
        }
        chosen.sort_by(|a, b| {
            let heavier = b.data.weight().cmp(&a.data.weight());
            heavier.then_with(|| place_key(a).cmp(&place_key(b)))
        });
        tables.push(table(&chosen, n, width));
    }
    if tables.is_empty() {
        return "no points yet: no loaded class has a point that matches".to_owned();
    }
    tables.join("\n\n")
}

fn is_count(data: &Measurement) -> bool {
    matches!(data, Measurement::Count { .. })
}

fn is_time(data: &Measurement) -> bool {
    matches!(data, Measurement::Time { .. })
}

fn is_log(data: &Measurement) -> bool {
    matches!(data, Measurement::Log { .. })
}

/// Returns the order of rows with equal weight, so that repeated tables are identical.
fn place_key(row: &PointRow) -> impl Ord + '_ {
    let what = row.what.as_deref();
    (
        &row.class,
        &row.method,
        row.fragment,
        row.to,
        row.line,
        what,
    )
}

/// Renders a table of rows of one kind. `rows` is sorted and not empty.
fn table(rows: &[&PointRow], n: usize, width: usize) -> String {
    let figures: &[(&str, ColumnFormat)] = match rows.first().map(|row| &row.data) {
        Some(Measurement::Time { .. }) => &[
            ("total", ColumnFormat::Right),
            ("count", ColumnFormat::Right),
            ("mean", ColumnFormat::Right),
            ("min", ColumnFormat::Right),
            ("max", ColumnFormat::Right),
        ],
        Some(Measurement::Log { .. }) => &[
            ("events", ColumnFormat::Right),
            ("dropped", ColumnFormat::Right),
        ],
        _ => &[
            ("hits", ColumnFormat::Right),
            ("share", ColumnFormat::Right),
        ],
    };
    let place = [
        ("class", ColumnFormat::ShrinkName),
        ("method", ColumnFormat::ShrinkName),
        ("at", ColumnFormat::Left),
        ("line", ColumnFormat::Right),
    ];
    let what = [("what", ColumnFormat::ShrinkName)];
    let has_what = rows.iter().take(n).any(|row| row.what.is_some());
    let what = if has_what { &what[..] } else { &[] };
    let columns: Vec<(&str, ColumnFormat)> =
        figures.iter().chain(&place).chain(what).copied().collect();
    let mut table = TextTable::new(&columns);
    let total = rows
        .iter()
        .fold(0u64, |sum, row| sum.saturating_add(row.data.weight()));
    for row in rows.iter().take(n) {
        let mut cells = value_cells(&row.data, total);
        cells.push(row.class.clone());
        cells.push(veneer_names::short_java_signature(&row.method));
        cells.push(fragment_or_edge(row.fragment, row.to));
        cells.push(line(row.line));
        cells.extend(has_what.then(|| row.what.clone().unwrap_or_default()));
        table.push_row(cells);
    }
    let unit = if rows.len() == 1 { "row" } else { "rows" };
    let mut foot = format!("{} {unit}", format_count(rows.len() as u64));
    // The time of a call is also part of the time of its caller, so a sum of times has no meaning.
    if !rows.first().is_some_and(|row| is_time(&row.data)) {
        foot = format!("{} in {foot}", format_count(total));
    }
    if rows.len() > n {
        foot.push_str(&format!(", of which {} are shown", format_count(n as u64)));
    }
    render_with_foot(table, &foot, width)
}

fn value_cells(data: &Measurement, total: u64) -> Vec<String> {
    match *data {
        Measurement::Count { hits } => vec![format_count(hits), text::format_share(hits, total)],
        Measurement::Time {
            count: times,
            total_ns,
            min_ns,
            max_ns,
        } => {
            let or_none = |ns: u64| {
                if times == 0 {
                    "-".to_owned()
                } else {
                    format_duration(ns)
                }
            };
            vec![
                format_duration(total_ns),
                format_count(times),
                or_none(total_ns.checked_div(times).unwrap_or(0)),
                or_none(min_ns),
                or_none(max_ns),
            ]
        }
        Measurement::Log { events, dropped } => vec![format_count(events), format_count(dropped)],
    }
}
