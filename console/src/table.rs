//! Tables for the terminal. If a table is too wide for the terminal, its widest columns are
//! shortened in the middle, because both ends of a name such as `com.acme…Parser::next` are
//! informative.

use std::io::{self, Write};

use veneer_text::{ColumnFormat, TextTable};

use crate::output::Style;

/// Writes the rows below their titles.
pub fn write<const N: usize>(
    to: &mut impl Write,
    titles: [&str; N],
    rows: &[[String; N]],
    style: Style,
) -> io::Result<()> {
    let mut table = TextTable::new(&titles.map(|title| (title, ColumnFormat::ShrinkMiddle)));
    for row in rows {
        table.push_row(row);
    }
    let rendered = table.render(style.width);
    writeln!(to, "{}", style.bold(&rendered.heading))?;
    for row in rendered.rows {
        writeln!(to, "{row}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_text::display_width;

    fn table(rows: &[[String; 2]], width: Option<usize>) -> String {
        let mut text = Vec::new();
        let style = Style {
            colour: false,
            width,
        };
        write(&mut text, ["class", "n"], rows, style).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn columns_are_as_wide_as_needed() {
        let rows = [
            ["a.B".into(), "12".into()],
            ["ü.Übermut".into(), "3".into()],
        ];
        assert_eq!(
            table(&rows, None),
            "class      n\na.B        12\nü.Übermut  3\n"
        );
    }

    #[test]
    fn long_cells_are_cut_in_the_middle_to_fit() {
        let rows = [["com.acme.deep.down.Parser".into(), "1".into()]];
        let text = table(&rows, Some(20));
        assert_eq!(text.lines().nth(1), Some("com.acme…n.Parser  1"));
        assert!(text.lines().all(|line| display_width(line) <= 20), "{text}");
        assert!(table(&rows, Some(1)).contains('…'));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let rows = [["a\x1b[2J\n".into(), "1".into()]];
        assert!(!table(&rows, None).contains('\x1b'));
    }
}
