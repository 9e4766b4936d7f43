//! Tables of aligned columns: the layout of every table that Veneer prints.
//!
//! A column is as wide as its widest cell. If the table is too wide, the columns that may shrink
//! share the width that the other columns leave, in equal parts. If such a column needs less than
//! its part, the others get the rest.

use crate::display_text::{
    display_width, pad_left, pad_right, replace_control_characters, shorten, shorten_middle,
};

/// The number of spaces between two columns.
const COLUMN_GAP: usize = 2;
/// The minimum width of a shrunk column. The line may exceed the maximum width instead, because a
/// narrower column would be unreadable.
const MIN_COLUMN_WIDTH: usize = 8;

/// How the cells of a column are aligned, and how they are shortened if the table is too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnFormat {
    /// Aligned left, never shortened.
    Left,
    /// Aligned right, never shortened.
    Right,
    /// Aligned left, shortened like a class name ([`shorten`]).
    ShrinkName,
    /// Aligned left, shortened so that both ends keep the same width ([`shorten_middle`]).
    ShrinkMiddle,
}

impl ColumnFormat {
    fn may_shrink(self) -> bool {
        matches!(self, ColumnFormat::ShrinkName | ColumnFormat::ShrinkMiddle)
    }

    /// Aligns a cell in a column of this width.
    fn align(self, cell: &str, width: usize) -> String {
        match self {
            ColumnFormat::Left => pad_right(cell, width),
            ColumnFormat::Right => pad_left(cell, width),
            ColumnFormat::ShrinkName => pad_right(&shorten(cell, width), width),
            ColumnFormat::ShrinkMiddle => pad_right(&shorten_middle(cell, width), width),
        }
    }
}

struct Column {
    title: String,
    format: ColumnFormat,
    cells: Vec<String>,
}

impl Column {
    fn needed_width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| display_width(cell));
        cells.fold(display_width(&self.title), usize::max)
    }
}

/// A table whose cells are collected before it is laid out.
pub struct TextTable {
    columns: Vec<Column>,
    rows: usize,
}

/// The lines of a table, without line breaks and without spaces at their ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedTable {
    /// The titles of the columns.
    pub heading: String,
    /// One line for each row.
    pub rows: Vec<String>,
}

impl TextTable {
    /// Creates an empty table. Each column has a title, which may be empty.
    pub fn new(columns: &[(&str, ColumnFormat)]) -> Self {
        let column = |&(title, format): &(&str, ColumnFormat)| Column {
            title: replace_control_characters(title).into_owned(),
            format,
            cells: Vec::new(),
        };
        TextTable {
            columns: columns.iter().map(column).collect(),
            rows: 0,
        }
    }

    /// Adds a row. A missing cell is empty, and surplus cells are dropped. Characters that control
    /// the terminal are replaced ([`replace_control_characters`]).
    pub fn push_row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut cells = cells.into_iter();
        for column in &mut self.columns {
            let cell = cells.next();
            let text = cell.as_ref().map_or("", AsRef::as_ref);
            column
                .cells
                .push(replace_control_characters(text).into_owned());
        }
        self.rows += 1;
    }

    /// Drops the columns without any text in their cells.
    pub fn drop_empty_columns(&mut self) {
        self.columns
            .retain(|column| column.cells.iter().any(|cell| !cell.is_empty()));
    }

    /// Lays the table out within `max_width` columns of a terminal; `None` means no limit.
    pub fn render(&self, max_width: Option<usize>) -> RenderedTable {
        let widths = self.widths(max_width);
        let cell = |column: &'_ Column, row: usize| column.cells.get(row).cloned();
        RenderedTable {
            heading: self.line(&widths, |column| column.title.clone()),
            rows: (0..self.rows)
                .map(|row| self.line(&widths, |column| cell(column, row).unwrap_or_default()))
                .collect(),
        }
    }

    /// Returns the width of each column.
    fn widths(&self, max_width: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(Column::needed_width).collect();
        let Some(max_width) = max_width else {
            return widths;
        };
        let fixed = self.columns.iter().zip(&widths);
        let fixed = fixed.filter(|(column, _)| !column.format.may_shrink());
        let fixed: usize = fixed.map(|(_, width)| width).sum();
        let gaps = COLUMN_GAP * self.columns.len().saturating_sub(1);
        let mut room = max_width.saturating_sub(gaps + fixed);
        // The narrowest column is first, so that the wider ones get the width that it does not use.
        let mut shrinking: Vec<&mut usize> = self
            .columns
            .iter()
            .zip(&mut widths)
            .filter(|(column, _)| column.format.may_shrink())
            .map(|(_, width)| width)
            .collect();
        shrinking.sort();
        let mut left = shrinking.len();
        for width in shrinking {
            let part = room.checked_div(left).unwrap_or(0).max(MIN_COLUMN_WIDTH);
            *width = (*width).min(part);
            room = room.saturating_sub(*width);
            left -= 1;
        }
        widths
    }

    fn line(&self, widths: &[usize], cell: impl Fn(&Column) -> String) -> String {
        let columns = self.columns.iter().zip(widths);
        let cells: Vec<String> = columns
            .map(|(column, width)| column.format.align(&cell(column), *width))
            .collect();
        cells.join(&" ".repeat(COLUMN_GAP)).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ColumnFormat::{Left, Right, ShrinkMiddle, ShrinkName};

    fn lines(table: &TextTable, max_width: Option<usize>) -> Vec<String> {
        let RenderedTable { heading, mut rows } = table.render(max_width);
        rows.insert(0, heading);
        rows
    }

    #[test]
    fn columns_stay_aligned_beside_wide_characters_and_combining_marks() {
        let mut table = TextTable::new(&[("名", Left), ("n", Right), ("class", ShrinkName)]);
        table.push_row(["漢字", "1", "会社.注文"]);
        table.push_row(["ab", "22", "a.B"]);
        table.push_row(["e\u{301}", "e\u{301}", "ü"]);
        let expected = [
            "名     n  class",
            "漢字   1  会社.注文",
            "ab    22  a.B",
            "e\u{301}      e\u{301}  ü",
        ];
        assert_eq!(lines(&table, None), expected);
    }

    #[test]
    fn shrinking_columns_share_the_rest_of_the_width() {
        let mut table = TextTable::new(&[
            ("n", Right),
            ("class", ShrinkName),
            ("method", ShrinkMiddle),
            ("short", ShrinkName),
        ]);
        table.push_row([
            "12",
            "漢字漢字漢字.漢字漢字",
            "abcdefghijklmnopqrstuvw",
            "a",
        ]);
        let found = lines(&table, Some(41));
        assert_eq!(found[1], "12  漢字….漢字漢字  abcdefg…rstuvw  a");
        for width in 0..60 {
            let widest = lines(&table, Some(width))
                .iter()
                .map(|l| display_width(l))
                .max();
            // Below 29 columns every shrunk column has its minimum width.
            assert!(
                widest.is_some_and(|widest| widest <= width.max(29)),
                "{width}"
            );
        }
    }

    #[test]
    fn no_cell_controls_the_terminal() {
        let mut table = TextTable::new(&[("a\u{7}", Left), ("b", Left)]);
        table.push_row(["x\ny\x1b[2J", "1"]);
        assert_eq!(
            lines(&table, None),
            ["a\u{fffd}       b", "x\u{fffd}y\u{fffd}[2J  1"]
        );
    }

    #[test]
    fn missing_cells_are_empty_and_empty_columns_are_dropped() {
        let mut table = TextTable::new(&[("a", Left), ("b", Left), ("c", Left)]);
        table.push_row(["1", "", "3", "4"]);
        table.push_row(["5"]);
        table.drop_empty_columns();
        assert_eq!(lines(&table, None), ["a  c", "1  3", "5"]);
    }
}
