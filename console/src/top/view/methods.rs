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

/// Minimum width in columns to show shares of the time.
const MIN_WIDTH_FOR_TIME: usize = 45;
/// Minimum width to show both the rate and the number of calls.
const MIN_WIDTH_FOR_BOTH: usize = 68;
/// Minimum width to show source lines.
const MIN_WIDTH_FOR_LINE: usize = 74;
/// Minimum width to show shares of the calls.
const MIN_WIDTH_FOR_SHARE: usize = 100;

/// Draws the rows that can be visible if the screen has `height` rows: those near the selected row.
/// All other lines are empty.
pub fn body(model: &Model, theme: Theme, width: usize, height: usize) -> BodyText {
    let (column, reversed) = model.methods.order();
    let mark = |title: &str, of: SortColumn| match (column == of, reversed) {
        (false, _) => title.to_owned(),
        (true, false) => format!("{title}▼"),
        (true, true) => format!("{title}▲"),
    };
    let shown = ShownColumns::new(model, width);
    let mut head = String::new();
    if shown.time {
        head += &align_right(&mark("own", SortColumn::Own), 7);
        head += &align_right(&mark("total", SortColumn::Total), 8);
    }
    if shown.rate {
        head += &align_right(&mark("calls/s", SortColumn::Rate), 11);
    }
    if shown.calls {
        head += &align_right(&mark("calls", SortColumn::Calls), 14);
    }
    if shown.share {
        head += &align_right("share", 7);
    }
    if shown.line {
        head += &align_right("line", 6);
    }
    head += "  on  ";
    head += &mark("method", SortColumn::Name);
    let cursor = model.methods.cursor();
    let all = model.methods.calls();
    // The colour of a row is its part of the hottest row.
    let heat = |method: &MethodRow| match model.methods.has_shares() {
        true => method.shares.own,
        false => method.rate,
    };
    let most = model.methods.rows().map(heat).fold(0.0, f64::max);
    let near = |index: usize| index + height >= cursor && index <= cursor + height;
    let lines = model.methods.rows().enumerate().map(|(index, method)| {
        if !near(index) {
            return Line::default();
        }
        let part = if most > 0.0 { heat(method) / most } else { 0.0 };
        let line = row(model, method, theme, width, all, part);
        match index == cursor {
            true => line.style(theme.selected()),
            false => line,
        }
    });
    BodyText {
        head: Line::from(Span::styled(head, theme.title())),
        lines: lines.collect(),
        cursor,
    }
}

/// The columns for which there is room.
struct ShownColumns {
    time: bool,
    rate: bool,
    calls: bool,
    share: bool,
    line: bool,
}

impl ShownColumns {
    /// If there is room for one of the two columns of calls only, it is the number of calls if the
    /// table is sorted by it, and else the rate.
    fn new(model: &Model, width: usize) -> ShownColumns {
        let by_calls = model.methods.order().0 == SortColumn::Calls;
        let both = width >= MIN_WIDTH_FOR_BOTH;
        ShownColumns {
            time: width >= MIN_WIDTH_FOR_TIME,
            rate: both || !by_calls,
            calls: both || by_calls,
            share: width >= MIN_WIDTH_FOR_SHARE,
            line: width >= MIN_WIDTH_FOR_LINE,
        }
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
    let shown = ShownColumns::new(model, width);
    let mut spans = Vec::new();
    if shown.time {
        let share = |share: f64| match model.methods.has_shares() {
            true => format!("{:.1}%", share * 100.0),
            false => "-".to_owned(),
        };
        spans.push(Span::styled(
            align_right(&share(method.shares.own), 7),
            theme.heat(part),
        ));
        spans.push(Span::raw(align_right(&share(method.shares.total), 8)));
    }
    if shown.rate {
        let rate = align_right(&format_rate(method.rate), 11);
        spans.push(match shown.time {
            true => Span::raw(rate),
            false => Span::styled(rate, theme.heat(part)),
        });
    }
    if shown.calls {
        spans.push(Span::raw(align_right(
            &table::format_count(method.calls),
            14,
        )));
    }
    if shown.share {
        spans.push(Span::raw(align_right(
            &format_percent(method.calls, all),
            7,
        )));
    }
    if shown.line {
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
