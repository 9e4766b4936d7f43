//! Draws the model. Each part consists of lines of text, so the same lines can be written to a
//! file.
//!
//! ```text
//!   bar      pid, cost, time                          always
//!   summary  which methods are counted                if the screen has at least 12 rows
//!   body     methods, or the fragments of one         always
//!   detail   what is attached to the selected row     if not empty; at most a third of the rows
//!   status   progress, messages                       from 12 rows on always, else if not empty
//!   hints    keys                                     if the screen has at least 16 rows
//! ```

mod body;
mod detail;
mod help;
mod methods;
mod open_method;
mod picker;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};
use veneer_instruments::table;
use veneer_text::replace_control_characters;

use super::model::{InputMode, Model};
use super::text;
use super::theme::Theme;

/// Minimum number of rows of a screen with the summary and the detail, and with the hints.
const ROWS_FOR_SUMMARY: u16 = 12;
const ROWS_FOR_HINTS: u16 = 16;

/// Draws the whole screen.
pub fn draw(frame: &mut Frame, model: &Model, theme: Theme) {
    let area = frame.area();
    if model.mode == InputMode::Help {
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(help::lines(theme)), area);
        return;
    }
    let detail = detail::lines(model, theme, usize::from(area.width));
    let summary = u16::from(area.height >= ROWS_FOR_SUMMARY);
    let hints = u16::from(area.height >= ROWS_FOR_HINTS);
    let room = (area.height / 3) * summary;
    let rows = (detail.len() as u16).min(room);
    let status_text = status_lines(model, theme, usize::from(area.width));
    let status_rows = match area.height {
        0..=2 => 0,
        rows if rows < ROWS_FOR_SUMMARY => status_text.len().min(2) as u16,
        _ => status_text.len().max(1) as u16,
    };
    // On a tiny screen, the cost has priority over everything else.
    let bar = Rect {
        height: area.height.min(1),
        ..area
    };
    let rest = Rect {
        y: area.y + bar.height,
        height: area.height - bar.height,
        ..area
    };
    let [above, body, below, status, last] = Layout::vertical([
        Constraint::Length(summary),
        Constraint::Min(1),
        Constraint::Length(rows),
        Constraint::Length(status_rows),
        Constraint::Length(hints),
    ])
    .areas(rest);
    frame.render_widget(Paragraph::new(bar_line(model)).style(theme.bar()), bar);
    frame.render_widget(Paragraph::new(summary_line(model)), above);
    draw_body(frame, body, model, theme);
    frame.render_widget(Paragraph::new(detail), below);
    frame.render_widget(Paragraph::new(status_text), status);
    frame.render_widget(Paragraph::new(hint_line(model, theme)), last);
    if let InputMode::Pick(picker) = &model.mode {
        picker::draw(frame, picker, theme);
    }
}

fn draw_body(frame: &mut Frame, area: Rect, model: &Model, theme: Theme) {
    let width = usize::from(area.width);
    // A single row shows data and not titles.
    let titled = u16::from(area.height > 1);
    let [head, rows] =
        Layout::vertical([Constraint::Length(titled), Constraint::Min(0)]).areas(area);
    let height = usize::from(rows.height);
    let body = match &model.open_method {
        Some(inside) => open_method::body(model, inside, theme, width),
        None => methods::body(model, theme, width, height),
    };
    frame.render_widget(Paragraph::new(body.head), head);
    // The selected row is in the middle unless it is near the first or last line.
    let most = body.lines.len().saturating_sub(height);
    let first = body.cursor.saturating_sub(height / 2).min(most);
    let lines: Vec<Line> = body.lines.into_iter().skip(first).take(height).collect();
    frame.render_widget(Paragraph::new(lines), rows);
}

fn bar_line(model: &Model) -> Line<'static> {
    let paused = if model.paused { "  PAUSED" } else { "" };
    Line::from(format!(
        " veneer top {}   cost ≈ {}   {} s{paused}",
        model.pid,
        text::format_cost(model.cost.share()),
        model.now.as_secs()
    ))
}

fn summary_line(model: &Model) -> Line<'static> {
    if let Some(inside) = &model.open_method {
        return Line::from(format!(
            " {}",
            replace_control_characters(&inside.location.name())
        ));
    }
    let (all, called) = model.methods.count();
    let standing = model.attached.map_or(all as u64, |a| a.methods);
    let mut words = format!(
        " {} methods {}, {} called",
        table::format_count(standing),
        model.scope,
        table::format_count(called as u64)
    );
    let filter = model.methods.filter();
    if !filter.is_empty() {
        let shown = table::format_count(model.methods.rows().len() as u64);
        words += &format!("; {shown} with `{}`", replace_control_characters(filter));
    }
    Line::from(words)
}

/// The frames of the animation that shows progress.
const SPINNER: [char; 4] = ['|', '/', '-', '\\'];

/// Maximum number of rows of a message.
const MAX_MESSAGE_ROWS: usize = 3;

fn status_lines(model: &Model, theme: Theme, width: usize) -> Vec<Line<'static>> {
    if let InputMode::Filter(_) = model.mode {
        let filter = replace_control_characters(model.methods.filter());
        let typed = format!(" /{filter}_   Enter keeps it, Esc drops it");
        return vec![Line::from(typed)];
    }
    if let Some(message) = model.message() {
        let style = match message.bad {
            true => theme.bad(),
            false => theme.title(),
        };
        let rows = text::wrap(&message.text, width.saturating_sub(1));
        let line = |row: String| Line::from(Span::styled(format!(" {row}"), style));
        return rows.into_iter().take(MAX_MESSAGE_ROWS).map(line).collect();
    }
    let Some((what, since)) = model.busy().next() else {
        return Vec::new();
    };
    let spinner = SPINNER[(since.as_millis() / 250) as usize % SPINNER.len()];
    let more = match model.busy().count() {
        0 | 1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    let (what, seconds) = (replace_control_characters(what), since.as_secs_f64());
    vec![Line::from(format!(
        " {spinner} {what} … {seconds:.1} s{more}"
    ))]
}

fn hint_line(model: &Model, theme: Theme) -> Line<'static> {
    let hints = match (&model.mode, model.open_method.is_some()) {
        (InputMode::View, false) => {
            " ? keys  Enter inside  c t w attach  d off  o sort  / filter  s save  q end"
        }
        (InputMode::View, true) => {
            " ? keys  Esc back  c t w attach  d off  o hottest  space pause  s save  q end"
        }
        _ => "",
    };
    Line::from(Span::styled(hints, theme.faint()))
}

/// Returns the methods, the fragments of the open method and the attached instruments as plain
/// text.
pub fn as_text(model: &Model, rows: usize) -> String {
    let theme = Theme { colour: false };
    let width = 120;
    let mut lines = vec![bar_line(model), Line::default()];
    let mut outside = model.clone();
    outside.open_method = None;
    lines.push(summary_line(&outside));
    let body = methods::body(&outside, theme, width, rows);
    lines.push(body.head);
    lines.extend(body.lines.into_iter().take(rows));
    if let Some(inside) = &model.open_method {
        lines.extend([Line::default(), summary_line(model)]);
        let body = open_method::body(model, inside, theme, width);
        lines.push(body.head);
        lines.extend(body.lines);
    }
    for probe in &model.probes {
        lines.extend([
            Line::default(),
            Line::from(format!(" {}", probe.location.name())),
        ]);
        lines.extend(detail::probe_lines(probe, theme, usize::MAX));
    }
    let plain = |line: &Line| {
        let text: String = line.spans.iter().map(|s| s.content.as_ref()).collect();
        text.trim_end().to_owned() + "\n"
    };
    lines.iter().map(plain).collect()
}

#[cfg(test)]
mod tests;
