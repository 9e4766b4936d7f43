//! Columns: how wide each may be, and the lines that come out.
//!
//! Columns of figures get what they need. What is left of the width is shared by the shrinking columns in
//! equal parts; one that needs less than its part leaves the rest to the others, and a column left without
//! any text is dropped.

use super::WIDTH;
use super::text::shorten;

/// Between two columns.
const GAP: usize = 2;
/// No column is shrunk below this: better a line too long than one without meaning.
const LEAST: usize = 8;

/// How a column is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    /// Left, and cut in the middle where the line would be too long.
    Shrink,
}

struct Column {
    head: &'static str,
    align: Align,
    cells: Vec<String>,
    width: usize,
}

pub(super) struct Layout {
    columns: Vec<Column>,
}

impl Layout {
    pub(super) fn new(heads: &[(&'static str, Align)]) -> Self {
        let columns = heads.iter().map(|&(head, align)| Column {
            head,
            align,
            cells: Vec::new(),
            width: 0,
        });
        Layout {
            columns: columns.collect(),
        }
    }

    /// Adds a row: a cell for each column.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.cells.push(cell);
        }
    }

    /// The table, without a final newline; `foot` is the last line.
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
        let gaps = GAP * self.columns.len().saturating_sub(1);
        let rigid = self.columns.iter().filter(|c| c.align != Align::Shrink);
        let mut room = WIDTH.saturating_sub(gaps + rigid.map(|c| c.width).sum::<usize>());
        // Narrowest first, so that what one leaves goes to the wider ones.
        let mut shrinking: Vec<&mut Column> = self
            .columns
            .iter_mut()
            .filter(|column| column.align == Align::Shrink)
            .collect();
        shrinking.sort_by_key(|column| column.width);
        let mut left = shrinking.len();
        for column in shrinking {
            let part = room.checked_div(left).unwrap_or(0).max(LEAST);
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
        cells.join(&" ".repeat(GAP)).trim_end().to_owned()
    }
}
