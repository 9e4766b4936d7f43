//! The lines of the screen's main part.

use ratatui::text::Line;

/// The lines of a table, and the selected one, which must be visible.
#[derive(Debug, Default)]
pub(super) struct BodyText {
    /// Titles of the columns.
    pub(super) head: Line<'static>,
    pub(super) lines: Vec<Line<'static>>,
    pub(super) cursor: usize,
}
