//! The call graph of a search as a picture in SVG 1.1, which a browser shows without other programs.
//!
//! ```text
//!   ┌────────────────┐
//!   │ Main.main 98 % │
//!   └─┬──────────────┘
//!     │ ┌─────────────────┐
//!     ├─│ Desk.serve 90 % │
//!     │ └─────────────────┘
//!     │ ┌────────────────┐
//!     └─│ Desk.audit 4 % │
//!       └────────────────┘
//! ```

use std::fmt::Write;

use crate::picture::{MAX_INDENT, NodeState, TreeRow, saturation};
use crate::search::Search;

/// Lengths in pixels.
const ROW: usize = 30;
const BOX: usize = 22;
const INDENT: usize = 24;
const MARGIN: usize = 10;
/// The width of a character of the monospaced font.
const CHARACTER: usize = 8;

impl Search {
    /// Returns the call graph of the examined methods as a picture in SVG. Methods above the
    /// threshold are red, the stronger the larger their share; undecided methods are grey. A method
    /// with several callers has its callees below the first one; its other boxes are dashed.
    pub fn svg(&self) -> String {
        let rows = self.tree();
        let width = rows.iter().map(|row| left(row) + width(row)).max();
        let width = width.unwrap_or(0) + MARGIN;
        let height = rows.len() * ROW + 2 * MARGIN;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"monospace\" font-size=\"13\">\n"
        );
        for (i, row) in rows.iter().enumerate() {
            if let Some(caller) = row.caller {
                draw_edge(&mut text, (caller, &rows[caller]), (i, row));
            }
            draw_box(&mut text, i, row);
        }
        text.push_str("</svg>\n");
        text
    }
}

/// Returns the text in the box of a row.
fn label(row: &TreeRow) -> String {
    let again = if row.is_repeated { " …" } else { "" };
    format!("{}{again}  {}", row.name, row.state.text())
}

fn left(row: &TreeRow) -> usize {
    MARGIN + INDENT * row.depth.min(MAX_INDENT)
}

fn top(row: usize) -> usize {
    MARGIN + row * ROW
}

fn width(row: &TreeRow) -> usize {
    (label(row).chars().count() + 2) * CHARACTER
}

fn draw_edge(text: &mut String, caller: (usize, &TreeRow), callee: (usize, &TreeRow)) {
    let x = left(caller.1) + INDENT / 2;
    let (from, to) = (top(caller.0) + BOX, top(callee.0) + BOX / 2);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "  <path d=\"M{x} {from}V{to}H{}\" fill=\"none\" stroke=\"gray\"/>",
        left(callee.1).max(x)
    );
}

fn draw_box(text: &mut String, i: usize, row: &TreeRow) {
    let (x, y) = (left(row), top(i));
    let dashes = if row.is_repeated {
        " stroke-dasharray=\"4\""
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "  <rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{BOX}\" rx=\"3\" fill=\"{}\" stroke=\"black\"{dashes}/>",
        width(row),
        color(row.state)
    );
    let _ = writeln!(
        text,
        "  <text x=\"{}\" y=\"{}\" xml:space=\"preserve\">{}</text>",
        x + CHARACTER,
        y + BOX - 7,
        escape(&label(row))
    );
}

fn color(state: NodeState) -> String {
    match state {
        NodeState::Holds(share) => {
            // Red of this saturation: the other two colours are equally weak.
            let other = (255.0 * (1.0 - saturation(share))).round();
            format!("rgb(255,{other},{other})")
        }
        NodeState::RuledOut(_) => "white".to_string(),
        NodeState::Open => "rgb(230,230,230)".to_string(),
    }
}

/// Replaces the characters that have a meaning in XML. Control characters, which XML 1.0 does not
/// allow, become question marks.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_shares_are_colours() {
        assert_eq!(escape("A.<init>\u{1b}&"), "A.&lt;init&gt;?&amp;");
        assert_eq!(color(NodeState::Holds(1.0)), "rgb(255,0,0)");
        assert_eq!(color(NodeState::Holds(0.25)), "rgb(255,153,153)");
    }
}
