//! The help screen.

use ratatui::text::{Line, Span};

use crate::top::cost::{CODE_NS, COUNTER_NS, TIMER_NS};
use crate::top::keys::HELP;
use crate::top::text::align_left;
use crate::top::theme::Theme;

/// Returns all lines of the help. Any key closes the help.
pub fn lines(theme: Theme) -> Vec<Line<'static>> {
    let key = |(keys, what): &(&'static str, &'static str)| {
        Line::from(vec![
            Span::styled(align_left(&format!(" {keys}"), 30), theme.title()),
            Span::raw(*what),
        ])
    };
    let mut lines: Vec<Line> = HELP.iter().map(key).collect();
    lines.push(Line::default());
    let times =
        format!("times {COUNTER_NS} ns (counter), {TIMER_NS} ns (timer), {CODE_NS} ns (watch),");
    for text in [
        "The cost is an estimate: passes of instruments in the last samples,",
        &times,
        "divided by the processor time of the process (/proc/PID/stat).",
        "It includes what was attached here. It does not include compiler",
        "optimisations that the instruments prevent.",
        "",
        "Any key closes the help.",
    ] {
        lines.push(Line::from(format!(" {text}")));
    }
    lines
}
