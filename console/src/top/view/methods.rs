//! The table of methods.

use ratatui::text::{Line, Span};
use veneer_instruments::table;

use super::Body;
use crate::top::methods::{Column, Method};
use crate::top::model::Model;
use crate::top::place::Place;
use crate::top::text::{clean, left, percent, rate, right};
use crate::top::theme::Theme;

/// Columns from which on there is room for both figures, for shares, and for lines.
const FOR_BOTH: usize = 55;
const FOR_SHARE: usize = 60;
const FOR_LINE: usize = 70;

/// Only the rows around the selected one are made, for `height` rows on the screen; the others are empty.
pub fn body(model: &Model, theme: Theme, width: usize, height: usize) -> Body {
    let (column, reversed) = model.methods.order();
    let mark = |title: &str, of: Column| match (column == of, reversed) {
        (false, _) => title.to_owned(),
        (true, false) => format!("{title}▼"),
        (true, true) => format!("{title}▲"),
    };
    let (rates, totals) = figures(model, width);
    let head = [
        if rates {
            right(&mark("calls/s", Column::Rate), 12)
        } else {
            String::new()
        },
        if totals {
            right(&mark("calls", Column::Calls), 15)
        } else {
            String::new()
        },
        if width >= FOR_SHARE {
            right("share", 7)
        } else {
            String::new()
        },
        if width >= FOR_LINE {
            right("line", 6)
        } else {
            String::new()
        },
        "  on  ".into(),
        mark("method", Column::Name),
    ];
    let cursor = model.methods.cursor();
    let all = model.methods.calls();
    let most = model.methods.rows().map(|m| m.rate).fold(0.0, f64::max);
    let near = |index: usize| index + height >= cursor && index <= cursor + height;
    let lines = model.methods.rows().enumerate().map(|(index, method)| {
        if !near(index) {
            return Line::default();
        }
        let part = if most > 0.0 { method.rate / most } else { 0.0 };
        let line = row(model, method, theme, width, all, part);
        match index == cursor {
            true => line.style(theme.selected()),
            false => line,
        }
    });
    Body {
        head: Line::from(Span::styled(head.concat(), theme.title())),
        lines: lines.collect(),
        cursor,
    }
}

/// Whether calls a second, and calls, are shown: where there is little room, what the table is sorted by.
fn figures(model: &Model, width: usize) -> (bool, bool) {
    let by_calls = model.methods.order().0 == Column::Calls;
    match width >= FOR_BOTH {
        true => (true, true),
        false => (!by_calls, by_calls),
    }
}

fn row(
    model: &Model,
    method: &Method,
    theme: Theme,
    width: usize,
    all: u64,
    part: f64,
) -> Line<'static> {
    let (rates, totals) = figures(model, width);
    let mut spans = Vec::new();
    if rates {
        spans.push(Span::styled(
            right(&rate(method.rate), 12),
            theme.heat(part),
        ));
    }
    if totals {
        spans.push(Span::raw(right(&table::count(method.calls), 15)));
    }
    if width >= FOR_SHARE {
        spans.push(Span::raw(right(&percent(method.calls, all), 7)));
    }
    if width >= FOR_LINE {
        let line = method.line.map(|l| l.to_string()).unwrap_or_default();
        spans.push(Span::styled(right(&line, 6), theme.faint()));
    }
    spans.push(Span::styled(
        format!("  {:<4}", letters(model, &method.place)),
        theme.attached(),
    ));
    let used: usize = spans.iter().map(|s| s.content.chars().count()).sum();
    let room = width.saturating_sub(used);
    let name = match method.name.chars().count() <= room {
        true => clean(&method.name),
        // Without its package it says more than without its middle.
        false => clean(&method.place.short_name()),
    };
    spans.push(Span::raw(left(&name, room)));
    Line::from(spans)
}

/// The letters of what is attached at a place, or anywhere in it: `c`, `t`, `w`.
pub fn letters(model: &Model, place: &Place) -> String {
    let here = |at: &Place| at == place || (place.fragment.is_none() && at.whole() == *place);
    let mut letters: Vec<char> = model
        .probes
        .iter()
        .filter(|probe| here(&probe.place))
        .map(|probe| probe.kind.letter())
        .collect();
    letters.sort_unstable();
    letters.dedup();
    letters.into_iter().collect()
}
