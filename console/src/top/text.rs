//! Formats measurements and names for columns.

use serde_json::Value;
use veneer_instruments::table;
use veneer_text::{display_width, pad_left, pad_right, replace_control_characters, shorten};

/// Formats a rate per second. Rates below ten have one decimal.
pub fn format_rate(rate: f64) -> String {
    match rate {
        r if r <= 0.0 => "0".to_owned(),
        r if r < 9.95 => format!("{r:.1}"),
        r => table::format_count(r.round() as u64),
    }
}

/// Formats a part of a whole in percent. Returns `-` if the whole is 0.
pub fn format_percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1}%", part as f64 * 100.0 / whole as f64),
    }
}

/// Formats the share of processor time that instruments use. Returns `–` if it is not known.
pub fn format_cost(share: Option<f64>) -> String {
    match share {
        None => "–".to_owned(),
        Some(share) if share >= 0.1 => format!("{:.0}%", share * 100.0),
        Some(share) => format!("{:.1}%", share * 100.0),
    }
}

/// Pads the text on the left to this number of columns. Longer text is not cut.
pub fn align_right(text: &str, columns: usize) -> String {
    pad_left(text, columns)
}

/// Pads the text on the right to this number of columns. Longer text is shortened.
pub fn align_left(text: &str, columns: usize) -> String {
    pad_right(&shorten(text, columns), columns)
}

/// Wraps the first line of a message between words into rows of at most `columns` columns. The
/// other lines contain the source of the plan and are dropped, because the user did not write that
/// plan.
pub fn wrap(message: &str, columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in replace_control_characters(message.lines().next().unwrap_or_default()).split(' ') {
        match rows.last_mut() {
            Some(row) if display_width(row) + 1 + display_width(word) <= columns => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}

/// Formats a recorded value.
pub fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => replace_control_characters(text).into_owned(),
        other => other.to_string(),
    }
}

/// The simple name of a type: `Map` for `java.util.Map`, `int[]` for `int[]`.
pub fn simple_name(of: &str) -> &str {
    of.rsplit('.').next().unwrap_or(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_by_their_size() {
        assert_eq!(
            [0.0, 0.04, 3.25, 9.96, 1234.6].map(format_rate),
            ["0", "0.0", "3.2", "10", "1,235"]
        );
        assert_eq!(
            (format_percent(1, 3), format_percent(1, 0)),
            ("33.3%".into(), "-".into())
        );
        assert_eq!(
            [None, Some(0.0), Some(0.0312), Some(0.5)].map(format_cost),
            ["–", "0.0%", "3.1%", "50%"]
        );
        assert_eq!(align_left("Desk", 6), "Desk  ");
        assert_eq!(align_left("com.shop.Desk", 9).chars().count(), 9);
        assert_eq!(
            (align_left("漢", 4), align_right("漢", 4)),
            ("漢  ".into(), "  漢".into())
        );
        assert_eq!(wrap("ab cd efghij\nx", 5), ["ab cd", "efghij"]);
        assert_eq!(wrap("漢 字 a\x1b", 5), ["漢 字", "a\u{fffd}"]);
        assert_eq!(
            format_value(&Value::from("a\x1b[2J\n")),
            "a\u{fffd}[2J\u{fffd}"
        );
    }
}
