//! Text as a terminal displays it: measured in columns, shortened, padded, and without characters
//! that control the terminal.
//!
//! The width of a character is defined by Unicode Standard Annex #11: an East Asian wide character
//! or an emoji has two columns, and a combining mark has none. Text is divided between grapheme
//! clusters only (Unicode Standard Annex #29), so that a combining mark stays with its base.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Stands for the removed part of a shortened text. Its width is one column.
const ELLIPSIS: char = '…';

/// Returns the number of columns of a terminal that the text needs.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Replaces each character that controls the terminal with U+FFFD. Names and values of an
/// application may contain any character. The replaced characters are
///
/// * control characters, which can move the cursor and change the state of the terminal;
/// * line and paragraph separators;
/// * the characters with the Unicode property `Bidi_Control`, which reorder the text around them.
pub fn replace_control_characters(text: &str) -> Cow<'_, str> {
    if text.contains(is_terminal_control) {
        text.replace(is_terminal_control, "\u{fffd}").into()
    } else {
        text.into()
    }
}

fn is_terminal_control(c: char) -> bool {
    let is_separator = matches!(c, '\u{2028}' | '\u{2029}');
    let is_bidi_control = matches!(
        c,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || is_separator || is_bidi_control
}

/// Returns the longest beginning of the text that needs at most `width` columns.
pub fn longest_prefix(text: &str, width: usize) -> &str {
    let end = fitting_bytes(text.graphemes(true), width);
    text.get(..end).unwrap_or(text)
}

/// Returns the longest end of the text that needs at most `width` columns.
fn longest_suffix(text: &str, width: usize) -> &str {
    let bytes = fitting_bytes(text.graphemes(true).rev(), width);
    text.get(text.len() - bytes..).unwrap_or(text)
}

/// Returns the length in bytes of the first clusters that need at most `width` columns together.
fn fitting_bytes<'a>(clusters: impl Iterator<Item = &'a str>, width: usize) -> usize {
    let mut left = width;
    clusters
        .map_while(|cluster| {
            left = left.checked_sub(cluster.width())?;
            Some(cluster.len())
        })
        .sum()
}

/// Shortens a class name to `width` columns, with `…` in place of the middle. The end gets two
/// thirds of the width, or the whole simple class name if that fits.
pub fn shorten(text: &str, width: usize) -> String {
    let simple = text
        .rsplit_once('.')
        .map_or(0, |(_, last)| display_width(last) + 1);
    elide(text, width, |room| {
        (room * 2).div_ceil(3).max(simple.min(room))
    })
}

/// Shortens a text to `width` columns, with `…` in place of the middle. Both ends keep the same
/// width.
pub fn shorten_middle(text: &str, width: usize) -> String {
    elide(text, width, |room| room / 2)
}

/// Shortens a text to `width` columns, with `…` in place of the end.
pub fn shorten_end(text: &str, width: usize) -> String {
    elide(text, width, |_| 0)
}

/// Shortens a text to `width` columns. `end_width` divides the columns beside the ellipsis: the
/// result is the number of columns for the end of the text.
fn elide(text: &str, width: usize, end_width: impl FnOnce(usize) -> usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(1) else {
        return String::new();
    };
    let end_width = end_width(room).min(room);
    let mut out = longest_prefix(text, room - end_width).to_owned();
    out.push(ELLIPSIS);
    out.push_str(longest_suffix(text, end_width));
    out
}

/// Pads the text on the left to `width` columns. A wider text is unchanged.
pub fn pad_left(text: &str, width: usize) -> String {
    let spaces = width.saturating_sub(display_width(text));
    format!("{}{text}", " ".repeat(spaces))
}

/// Pads the text on the right to `width` columns. A wider text is unchanged.
pub fn pad_right(text: &str, width: usize) -> String {
    let spaces = width.saturating_sub(display_width(text));
    format!("{text}{}", " ".repeat(spaces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_have_two_columns_and_combining_marks_none() {
        assert_eq!(display_width("route.Edge"), 10);
        assert_eq!(display_width("漢字"), 4);
        assert_eq!(display_width("ｱ"), 1, "a half-width letter");
        assert_eq!(display_width("e\u{301}"), 1);
        assert_eq!(display_width("👩\u{200d}👧"), 2, "one emoji of two");
        assert_eq!(pad_left("漢字", 5), " 漢字");
        assert_eq!(pad_right("e\u{301}", 3), "e\u{301}  ");
        assert_eq!(pad_right("漢字", 3), "漢字");
    }

    #[test]
    fn a_text_is_divided_between_clusters_only() {
        assert_eq!(longest_prefix("漢字", 3), "漢");
        assert_eq!(longest_prefix("ae\u{301}x", 2), "ae\u{301}");
        assert_eq!(longest_prefix("👩\u{200d}👧x", 1), "");
        assert_eq!(longest_suffix("xe\u{301}", 1), "e\u{301}");
        assert_eq!(longest_suffix("漢字", 3), "字");
        assert_eq!(longest_suffix("ab", 9), "ab");
    }

    #[test]
    fn class_names_keep_their_end() {
        let name = "com.sun.tools.javac.parser.JavaTokenizer";
        assert_eq!(shorten(name, 40), name);
        assert_eq!(shorten(name, 24), "com.sun…er.JavaTokenizer");
        assert_eq!(shorten(name, 16), "c….JavaTokenizer");
        assert_eq!(shorten(name, 6), "…nizer");
        assert_eq!(shorten(name, 0), "");
        assert_eq!(shorten("äöü", 2), "…ü");
        assert_eq!(shorten("会社.部門.注文", 10), "会….注文");
    }

    #[test]
    fn no_shortened_text_is_wider_than_requested() {
        let text = "a漢b\u{301}字👩\u{200d}👧.c漢字d\u{301}e";
        for width in 0..=display_width(text) {
            for short in [
                shorten(text, width),
                shorten_middle(text, width),
                shorten_end(text, width),
            ] {
                assert!(display_width(&short) <= width, "{short} in {width} columns");
                assert_eq!(short == text, width == display_width(text));
            }
        }
        assert_eq!(shorten_middle("abcdef", 4), "ab…f");
        assert_eq!(shorten_end("abcdef", 4), "abc…");
        assert_eq!(shorten_end("漢字漢字", 4), "漢…");
    }

    #[test]
    fn characters_that_control_the_terminal_are_replaced() {
        let replaced = |text: &str| replace_control_characters(text).into_owned();
        assert_eq!(replaced("a\x1b[2J\n"), "a\u{fffd}[2J\u{fffd}");
        assert_eq!(
            replaced("a\u{85}\u{2028}\u{202e}b"),
            "a\u{fffd}\u{fffd}\u{fffd}b"
        );
        assert_eq!(replaced("\u{200f}\u{2066}"), "\u{fffd}\u{fffd}");
        let emoji = "é漢👩\u{200d}👧";
        assert!(matches!(replace_control_characters(emoji), Cow::Borrowed(text) if text == emoji));
    }
}
