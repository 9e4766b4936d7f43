//! The details of the selected row: the code and live variables of a block, and the measurements of
//! the instruments attached there.

use ratatui::text::{Line, Span};
use veneer_instruments::table;
use veneer_text::{replace_control_characters, shorten_end};

use super::open_method::variables;
use crate::top::location::ProbeKind;
use crate::top::model::Model;
use crate::top::probe::{ProbePanel, ProbeState};
use crate::top::text::{format_rate, format_value};
use crate::top::theme::Theme;

/// Number of recorded values of a watch that are shown.
const SHOWN_VALUES: usize = 3;

/// Returns the lines below the table. Empty if there are no details.
pub fn lines(model: &Model, theme: Theme, width: usize) -> Vec<Line<'static>> {
    let Some(location) = model.selected() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    if let Some(block) = model.open_method.as_ref().and_then(|i| i.selected()) {
        let code = block.instructions.join(" ");
        let code = replace_control_characters(&code);
        lines.push(Line::from(shorten_end(
            &format!(" f{}: {code}", block.number),
            width,
        )));
        let live = match variables(block) {
            none if none.is_empty() => "nothing".to_owned(),
            some => some,
        };
        lines.push(Line::from(shorten_end(&format!(" live: {live}"), width)));
    }
    for probe in model.probes_at(&location) {
        lines.extend(probe_lines(probe, theme, width));
    }
    if !lines.is_empty() {
        let rule = "─".repeat(width);
        lines.insert(0, Line::from(Span::styled(rule, theme.faint())));
    }
    lines
}

/// Returns the measurements of an instrument.
pub fn probe_lines(probe: &ProbePanel, theme: Theme, width: usize) -> Vec<Line<'static>> {
    let results = &probe.shown;
    let name = match &probe.kind {
        ProbeKind::Watch(values) => format!("watch {}", values.join(", ")),
        kind => kind.name().to_owned(),
    };
    let passes = table::format_count(results.passes);
    let words = match (&probe.state, &probe.kind) {
        (ProbeState::Attaching, _) => "is being attached".to_owned(),
        (_, ProbeKind::Timer) if results.passes == 0 => "nothing was timed yet".to_owned(),
        (_, ProbeKind::Timer) => format!(
            "{} on average, {} … {}, {passes} times, {} a second",
            table::format_duration(probe.average_ns()),
            table::format_duration(results.min_ns),
            table::format_duration(results.max_ns),
            format_rate(results.rate)
        ),
        _ => format!("{passes} passes, {} a second", format_rate(results.rate)),
    };
    let first = vec![
        Span::styled(
            format!(" {}", replace_control_characters(&name)),
            theme.attached(),
        ),
        Span::raw(format!(": {words}")),
    ];
    let mut lines = vec![Line::from(first)];
    if let ProbeKind::Watch(names) = &probe.kind {
        // The latest values are first, because the lines at the end may not fit on the screen.
        for seen in results.values.iter().rev().take(SHOWN_VALUES) {
            let pairs = names.iter().zip(&seen.values);
            let pairs: Vec<String> = pairs
                .map(|(name, of)| {
                    format!(
                        "{} = {}",
                        replace_control_characters(name),
                        format_value(of)
                    )
                })
                .collect();
            let text = format!("   {}   thread {}", pairs.join(", "), seen.thread_id);
            lines.push(Line::from(shorten_end(&text, width)));
        }
    }
    lines
}
