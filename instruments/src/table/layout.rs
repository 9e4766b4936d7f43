//! Aligns columns within the maximum width of a line.
//!
//! A column of numbers gets the width that it needs. The columns that may shrink share the
//! remaining width equally. If such a column needs less than its share, the others get the rest. A
//! column without any text is dropped.

use super::text::shorten;

/// The maximum width of a line, in characters.
pub const TABLE_WIDTH: usize = 100;
/// The number of spaces between two columns.
const COLUMN_GAP: usize = 2;
/// The minimum width of a shrunk column. The line may exceed the maximum width instead, because a
/// narrower column would be unreadable.
const MIN_COLUMN_WIDTH: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    /// Aligned left, and shortened in the middle if the line would be too long.
    Shrink,
}

struct Column {
    head: &'static str,
    align: Align,
    cells: Vec<String>,
    width: usize,
}

pub(super) struct TableLayout {
    columns: Vec<Column>,
}

impl TableLayout {
    pub(super) fn new(heads: &[(&'static str, Align)]) -> Self {
        let columns = heads.iter().map(|&(head, align)| Column {
            head,
            align,
            cells: Vec::new(),
            width: 0,
        });
        TableLayout {
            columns: columns.collect(),
        }
    }

    /// Adds a row with one cell for each column.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.cells.push(cell);
        }
    }

    /// Renders the table without a final newline. `foot` is the last line.
    pub(super) fn render(mut self, foot: &str) -> String {
        self.columns
            .retain(|column| column.cells.iter().any(|cell| !cell.is_empty()));
        self.measure();
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        let mut lines = Vec::with_capacity(rows + 2);
        if rows > 0 {
            lines.push(self.line(|column| column.head));
        }
        for row in 0..rows {
            lines.push(self.line(|column| column.cells.get(row).map_or("", String::as_str)));
        }
        lines.push(foot.to_owned());
        lines.join("\n")
    }

    fn measure(&mut self) {
        for column in &mut self.columns {
            let cells = column.cells.iter().map(|cell| cell.chars().count());
            column.width = cells.max().unwrap_or(0).max(column.head.chars().count());
        }
        let gaps = COLUMN_GAP * self.columns.len().saturating_sub(1);
        let fixed = self.columns.iter().filter(|c| c.align != Align::Shrink);
        let mut room = TABLE_WIDTH.saturating_sub(gaps + fixed.map(|c| c.width).sum::<usize>());
        // The narrowest column is first, so that the wider ones get the width that it does not use.
        let mut shrinking: Vec<&mut Column> = self
            .columns
            .iter_mut()
            .filter(|column| column.align == Align::Shrink)
            .collect();
        shrinking.sort_by_key(|column| column.width);
        let mut left = shrinking.len();
        for column in shrinking {
            let part = room.checked_div(left).unwrap_or(0).max(MIN_COLUMN_WIDTH);
            column.width = column.width.min(part);
            room = room.saturating_sub(column.width);
            left -= 1;
        }
    }

    fn line<'a>(&'a self, cell: impl Fn(&'a Column) -> &'a str) -> String {
        let cells: Vec<String> = self
            .columns
            .iter()
            .map(|column| {
                let width = column.width;
                match column.align {
                    Align::Right => format!("{:>width$}", cell(column)),
                    Align::Left => format!("{:<width$}", cell(column)),
                    Align::Shrink => format!("{:<width$}", shorten(cell(column), width)),
                }
            })
            .collect();
        cells.join(&" ".repeat(COLUMN_GAP)).trim_end().to_owned()
    }
}
