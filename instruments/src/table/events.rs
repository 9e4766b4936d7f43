//! Renders the events of a value log as a table.

use super::layout::{Align, Layout};
use super::place::{fragment_or_edge, line};
use super::text::{self, count, duration};
use crate::{Data, Event, Row};

/// Renders the newest `n` events of a value log, oldest first. The last line shows the totals of
/// `rows`, the rows of the log.
pub fn render_events(rows: &[Row], events: &[Event], n: usize) -> String {
    let shown = events.get(events.len().saturating_sub(n)..).unwrap_or(&[]);
    let mut layout = Layout::new(&[
        ("time", Align::Right),
        ("thread", Align::Right),
        ("class", Align::Shrink),
        ("method", Align::Shrink),
        ("at", Align::Left),
        ("line", Align::Right),
        ("values", Align::Shrink),
    ]);
    for event in shown {
        let values: Vec<String> = event
            .values
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        layout.row(vec![
            duration(event.time_ns),
            event.thread.to_string(),
            event.class.clone(),
            text::signature(&event.method),
            fragment_or_edge(event.fragment, None),
            line(event.line),
            values.join(" "),
        ]);
    }
    let (seen, dropped) = rows.iter().fold((0u64, 0u64), |(seen, dropped), row| {
        let lost = match row.data {
            Data::Log { dropped, .. } => dropped,
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
        count(seen),
        count(dropped)
    );
    if shown.is_empty() {
        foot
    } else {
        layout.render(&foot)
    }
}
