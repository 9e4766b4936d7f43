//! Draws the table of methods.

use ratatui::text::{Line, Span};
use veneer_instruments::table;
use veneer_text::{display_width, replace_control_characters};

use super::body::BodyText;
use crate::top::location::MethodLocation;
use crate::top::methods::{MethodRow, SortColumn};
use crate::top::model::Model;
use crate::top::text::{align_left, align_right, format_percent, format_rate};
use crate::top::theme::Theme;

/// Minimum width in columns to show both the rate and the number of calls, to show shares, and to
/// show source lines.
const MIN_WIDTH_FOR_BOTH: usize = 55;
const MIN_WIDTH_FOR_SHARE: usize = 60;
const MIN_WIDTH_FOR_LINE: usize = 70;

/// Draws the rows that can be visible if the screen has `height` rows: those near the selected row.
/// All other lines are empty.
pub fn body(model: &Model, theme: Theme, width: usize, height: usize) -> BodyText {
    let (column, reversed) = model.methods.order();
    let mark = |title: &str, of: SortColumn| match (column == of, reversed) {
        (false, _) => title.to_owned(),
        (true, false) => format!("{title}▼"),
        (true, true) => format!("{title}▲"),
    };
    let (rates, totals) = shown_columns(model, width);
    let head = [
        if rates {
            align_right(&mark("calls/s", SortColumn::Rate), 12)
        } else {
            String::new()
        },
        if totals {
            align_right(&mark("calls", SortColumn::Calls), 15)
        } else {
            String::new()
        },
        if width >= MIN_WIDTH_FOR_SHARE {
            align_right("share", 7)
        } else {
            String::new()
        },
        if width >= MIN_WIDTH_FOR_LINE {
            align_right("line", 6)
        } else {
            String::new()
        },
        "  on  ".into(),
        mark("method", SortColumn::Name),
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
    BodyText {
        head: Line::from(Span::styled(head.concat(), theme.title())),
        lines: lines.collect(),
        cursor,
    }
}

/// Whether to show calls per second, and whether to show calls. If there is room for one of them
/// only, the column that the table is sorted by is shown.
fn shown_columns(model: &Model, width: usize) -> (bool, bool) {
    let by_calls = model.methods.order().0 == SortColumn::Calls;
    match width >= MIN_WIDTH_FOR_BOTH {
        true => (true, true),
        false => (!by_calls, by_calls),
    }
}

fn row(
    model: &Model,
    method: &MethodRow,
    theme: Theme,
    width: usize,
    all: u64,
    part: f64,
) -> Line<'static> {
    let (rates, totals) = shown_columns(model, width);
    let mut spans = Vec::new();
    if rates {
        spans.push(Span::styled(
            align_right(&format_rate(method.rate), 12),
            theme.heat(part),
        ));
    }
    if totals {
        spans.push(Span::raw(align_right(
            &table::format_count(method.calls),
            15,
        )));
    }
    if width >= MIN_WIDTH_FOR_SHARE {
        spans.push(Span::raw(align_right(
            &format_percent(method.calls, all),
            7,
        )));
    }
    if width >= MIN_WIDTH_FOR_LINE {
        let line = method.line.map(|l| l.to_string()).unwrap_or_default();
        spans.push(Span::styled(align_right(&line, 6), theme.faint()));
    }
    spans.push(Span::styled(
        align_left(&format!("  {}", letters(model, &method.location)), 6),
        theme.attached(),
    ));
    let used: usize = spans.iter().map(Span::width).sum();
    let room = width.saturating_sub(used);
    let name = match display_width(&method.name) <= room {
        true => method.name.clone(),
        // The name without its package is more informative than a name shortened in the middle.
        false => method.location.short_name(),
    };
    let name = align_left(&replace_control_characters(&name), room);
    spans.push(Span::raw(name));
    Line::from(spans)
}

/// The letters of the instruments that are attached to a location, or to any fragment of the
/// method: `c`, `t`, `w`.
pub fn letters(model: &Model, location: &MethodLocation) -> String {
    let here = |at: &MethodLocation| {
        at == location || (location.fragment.is_none() && at.whole_method() == *location)
    };
    let mut letters: Vec<char> = model
        .probes
        .iter()
        .filter(|probe| here(&probe.location))
        .map(|probe| probe.kind.letter())
        .collect();
    letters.sort_unstable();
    letters.dedup();
    letters.into_iter().collect()
}
