//! What is known of the selected row beside its figures, and what the instruments there have measured.

use ratatui::text::{Line, Span};
use veneer_instruments::table;

use super::inside::{cut, variables};
use crate::top::model::Model;
use crate::top::place::Kind;
use crate::top::probe::{Probe, State};
use crate::top::text::{clean, rate, value};
use crate::top::theme::Theme;

/// The newest values of a watch that are shown.
const VALUES: usize = 3;

/// The lines below the table; none where there is nothing to tell.
pub fn lines(model: &Model, theme: Theme, width: usize) -> Vec<Line<'static>> {
    let Some(place) = model.selected() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    if let Some(block) = model.inside.as_ref().and_then(|i| i.selected()) {
        let code = clean(&block.instructions.join(" "));
        lines.push(Line::from(cut(
            &format!(" f{}: {code}", block.number),
            width,
        )));
        let live = match variables(block) {
            none if none.is_empty() => "nothing".to_owned(),
            some => some,
        };
        lines.push(Line::from(cut(&format!(" live: {live}"), width)));
    }
    for probe in model.probes_at(&place) {
        lines.extend(of_probe(probe, theme, width));
    }
    if !lines.is_empty() {
        let rule = "─".repeat(width);
        lines.insert(0, Line::from(Span::styled(rule, theme.faint())));
    }
    lines
}

/// What an instrument has measured.
pub fn of_probe(probe: &Probe, theme: Theme, width: usize) -> Vec<Line<'static>> {
    let figures = &probe.figures;
    let name = match &probe.kind {
        Kind::Watch(values) => format!("watch {}", values.join(", ")),
        kind => kind.name().to_owned(),
    };
    let passes = table::count(figures.passes);
    let words = match (&probe.state, &probe.kind) {
        (State::Attaching, _) => "is being attached".to_owned(),
        (_, Kind::Timer) if figures.passes == 0 => "nothing was timed yet".to_owned(),
        (_, Kind::Timer) => format!(
            "{} on average, {} … {}, {passes} times, {} a second",
            table::duration(probe.average_ns()),
            table::duration(figures.min_ns),
            table::duration(figures.max_ns),
            rate(figures.rate)
        ),
        _ => format!("{passes} passes, {} a second", rate(figures.rate)),
    };
    let first = vec![
        Span::styled(format!(" {}", clean(&name)), theme.attached()),
        Span::raw(format!(": {words}")),
    ];
    let mut lines = vec![Line::from(first)];
    if let Kind::Watch(names) = &probe.kind {
        // The newest comes first: below it there may be no room.
        for seen in figures.values.iter().rev().take(VALUES) {
            let pairs = names.iter().zip(&seen.values);
            let pairs: Vec<String> = pairs
                .map(|(name, of)| format!("{} = {}", clean(name), value(of)))
                .collect();
            let text = format!("   {}   thread {}", pairs.join(", "), seen.thread_id);
            lines.push(Line::from(cut(&text, width)));
        }
    }
    lines
}
