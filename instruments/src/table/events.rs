//! Renders the events of a value log as a table.

use super::foot::{TABLE_WIDTH, render_with_foot};
use super::place::{fragment_or_edge, line};
use super::text::{format_count, format_duration};
use crate::{LogEvent, Measurement, PointRow};
use veneer_text::{ColumnFormat, TextTable};

/// Renders the newest `n` events of a value log, oldest first. The last line shows the totals of
/// `rows`, the rows of the log.
pub fn render_events(rows: &[PointRow], events: &[LogEvent], n: usize) -> String {
    let shown = events.get(events.len().saturating_sub(n)..).unwrap_or(&[]);
    let mut table = TextTable::new(&[
        ("time", ColumnFormat::Right),
        ("thread", ColumnFormat::Right),
        ("class", ColumnFormat::ShrinkName),
        ("method", ColumnFormat::ShrinkName),
        ("at", ColumnFormat::Left),
        ("line", ColumnFormat::Right),
        ("values", ColumnFormat::ShrinkName),
    ]);
    for event in shown {
        let values: Vec<String> = event
            .values
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        table.push_row(vec![
            format_duration(event.time_ns),
            event.thread.to_string(),
            event.class.clone(),
            veneer_names::short_java_signature(&event.method),
            fragment_or_edge(event.fragment, None),
            line(event.line),
            values.join(" "),
        ]);
    }
    let (seen, dropped) = rows.iter().fold((0u64, 0u64), |(seen, dropped), row| {
        let lost = match row.data {
            Measurement::Log { dropped, .. } => dropped,
            _ => 0,
        };
        (
            seen.saturating_add(row.data.hits()),
            dropped.saturating_add(lost),
        )
    });
    let foot = format!(
        "{} shown of {} events, {} dropped",
        shown.len(),
        format_count(seen),
        format_count(dropped)
    );
    if shown.is_empty() {
        foot
    } else {
        render_with_foot(table, &foot, TABLE_WIDTH)
    }
}
