//! Text tables that fit the terminal. Each column is as wide as its widest cell. If the table is
//! too wide, the widest columns are shortened in the middle, because both ends of a name such as
//! `com.acme…Parser::next` are informative.

use std::io::{self, Write};

use crate::output::Style;

/// Number of spaces between columns.
const GAP: usize = 2;
/// No column is shortened below this number of characters.
const MIN_COLUMN_WIDTH: usize = 8;

/// Writes the rows below their titles.
pub fn write<const N: usize>(
    to: &mut impl Write,
    titles: [&str; N],
    rows: &[[String; N]],
    style: Style,
) -> io::Result<()> {
    let mut widths = titles.map(width);
    for row in rows {
        for (width_now, cell) in widths.iter_mut().zip(row) {
            *width_now = (*width_now).max(width(cell));
        }
    }
    if let Some(limit) = style.width {
        shrink(&mut widths, limit);
    }
    let heading = line(titles, &widths);
    writeln!(to, "{}", style.bold(&heading))?;
    for row in rows {
        writeln!(to, "{}", line(row.each_ref().map(String::as_str), &widths))?;
    }
    Ok(())
}

/// Narrows the widest column again and again until the table fits, or until every column has its
/// minimum width.
fn shrink(widths: &mut [usize], limit: usize) {
    let room = limit.saturating_sub(GAP * widths.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        match widths.iter_mut().max() {
            Some(widest) if *widest > MIN_COLUMN_WIDTH => *widest -= 1,
            _ => return,
        }
    }
}

fn line<const N: usize>(cells: [&str; N], widths: &[usize; N]) -> String {
    let mut text = String::new();
    for (cell, &room) in cells.iter().zip(widths) {
        let cell = cut(cell, room);
        text.push_str(&cell);
        text.extend(std::iter::repeat_n(' ', room - width(&cell) + GAP));
    }
    text.trim_end().to_owned()
}

/// Returns the text in at most `room` characters. Characters removed from the middle are replaced
/// by `…`.
fn cut(text: &str, room: usize) -> String {
    let length = width(text);
    // A control character could move the cursor. Class names may contain any character.
    let clean = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c });
    if length <= room {
        return clean.collect();
    }
    let kept = room.saturating_sub(1);
    let head = kept.div_ceil(2);
    let tail = length - (kept - head);
    clean
        .enumerate()
        .filter_map(|(index, character)| match index {
            _ if index < head || index >= tail => Some(character),
            _ if index == head => Some('…'),
            _ => None,
        })
        .collect()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(text.lines().all(|line| width(line) <= 20), "{text}");
        assert!(table(&rows, Some(1)).contains('…'));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let rows = [["a\x1b[2J\n".into(), "1".into()]];
        assert!(!table(&rows, None).contains('\x1b'));
    }
}
