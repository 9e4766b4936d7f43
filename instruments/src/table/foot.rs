//! Lays out a table with a last line below its rows.

use veneer_text::{RenderedTable, TextTable};

/// The maximum width of a table in a report or in the output of a plan, in columns of a terminal,
/// unless another one is asked for.
pub const TABLE_WIDTH: usize = 100;

/// Lays the table out within `width` columns, without its empty columns and without a final line
/// break. `foot` is the last line. A table without rows has no heading.
pub(super) fn render_with_foot(mut table: TextTable, foot: &str, width: usize) -> String {
    table.drop_empty_columns();
    let RenderedTable { heading, rows } = table.render(Some(width));
    let heading = (!rows.is_empty()).then_some(heading);
    let lines = heading.into_iter().chain(rows).chain([foot.to_owned()]);
    lines.collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_text::ColumnFormat;

    #[test]
    fn empty_columns_are_dropped_and_the_foot_is_last() {
        let columns = [("a", ColumnFormat::Left), ("b", ColumnFormat::Left)];
        let mut table = TextTable::new(&columns);
        table.push_row(["1"]);
        assert_eq!(render_with_foot(table, "1 row", 80), "a\n1\n1 row");
        assert_eq!(
            render_with_foot(TextTable::new(&columns), "0 rows", 80),
            "0 rows"
        );
    }
}
