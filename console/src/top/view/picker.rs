//! Draws the window in which the values of a watch are selected.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};
use veneer_text::{replace_control_characters, shorten_end};

use crate::top::picker::Picker;
use crate::top::text::simple_name;
use crate::top::theme::Theme;

/// Maximum width of the window in columns.
const MAX_WIDTH: u16 = 60;

/// Draws the window over the view.
pub fn draw(frame: &mut Frame, picker: &Picker, theme: Theme) {
    let area = frame.area();
    let width = area.width.min(MAX_WIDTH);
    let rows = picker.choices.len() as u16 + 4;
    let height = rows.min(area.height);
    let window = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let inner = usize::from(width.saturating_sub(2));
    let mut lines: Vec<Line> = Vec::new();
    for (index, choice) in picker.choices.iter().enumerate() {
        let mark = if choice.chosen { 'x' } else { ' ' };
        let text = format!(
            "[{mark}] {} {}",
            simple_name(&choice.type_name),
            choice.text
        );
        let line = Line::from(shorten_end(&replace_control_characters(&text), inner));
        lines.push(match index == picker.cursor && picker.typed.is_none() {
            true => line.style(theme.selected()),
            false => line,
        });
    }
    // The last two rows are an empty row and the row with the keys or the expression.
    let room = usize::from(height.saturating_sub(4)).max(1);
    let first = (picker.cursor + 1).saturating_sub(room);
    let mut lines: Vec<Line> = lines.into_iter().skip(first).take(room).collect();
    lines.push(Line::default());
    lines.push(match &picker.typed {
        Some(text) => Line::from(shorten_end(
            &format!("expression: {}_", replace_control_characters(text)),
            inner,
        )),
        None => Line::from("space choose  e expression  Enter attach  Esc back"),
    });
    let title = shorten_end(
        &format!(
            " watch at {} ",
            replace_control_characters(&picker.location.to_string())
        ),
        inner,
    );
    let frame_of = Block::bordered().title(title);
    frame.render_widget(Clear, window);
    frame.render_widget(Paragraph::new(lines).block(frame_of), window);
}
