//! The help.

use ratatui::text::{Line, Span};

use crate::top::cost::{CODE, COUNTER, TIMER};
use crate::top::keys::HELP;
use crate::top::theme::Theme;

/// All of it; any key ends it.
pub fn lines(theme: Theme) -> Vec<Line<'static>> {
    let key = |(keys, what): &(&'static str, &'static str)| {
        Line::from(vec![
            Span::styled(format!(" {keys:<29}"), theme.title()),
            Span::raw(*what),
        ])
    };
    let mut lines: Vec<Line> = HELP.iter().map(key).collect();
    lines.push(Line::default());
    let times = format!("times {COUNTER} ns (counter), {TIMER} ns (timer), {CODE} ns (watch),");
    for text in [
        "The cost is an estimate: passes of instruments since the last looks,",
        &times,
        "by the processor time of the process in that time (/proc/PID/stat).",
        "It counts what was attached here, and not what the compiler makes less",
        "of because of it.",
        "",
        "Any key goes back.",
    ] {
        lines.push(Line::from(format!(" {text}")));
    }
    lines
}
