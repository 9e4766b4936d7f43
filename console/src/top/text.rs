//! Figures and names as they stand in columns.

use serde_json::Value;
use veneer_instruments::table;

/// A number a second: with a decimal below ten.
pub fn rate(rate: f64) -> String {
    match rate {
        r if r <= 0.0 => "0".to_owned(),
        r if r < 9.95 => format!("{r:.1}"),
        r => table::count(r.round() as u64),
    }
}

/// A part of a whole, in percent; `-` of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1}%", part as f64 * 100.0 / whole as f64),
    }
}

/// The share that instruments have of the processor time; `–` as long as it is not known.
pub fn cost(share: Option<f64>) -> String {
    match share {
        None => "–".to_owned(),
        Some(share) if share >= 0.1 => format!("{:.0}%", share * 100.0),
        Some(share) => format!("{:.1}%", share * 100.0),
    }
}

/// At the right end of so many columns. What is longer takes more.
pub fn right(text: &str, columns: usize) -> String {
    format!("{text:>columns$}")
}

/// At the left end of so many columns, cut where it is longer.
pub fn left(text: &str, columns: usize) -> String {
    let text = table::shorten(text, columns);
    format!("{text:<columns$}")
}

/// Without control characters, which would move the cursor; there are names and values with anything in them.
pub fn clean(text: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(clean).collect()
}

/// The first line of a message, broken between words into rows of so many columns. (Behind it are source and caret of a plan that
/// nobody has typed.)
pub fn rows(message: &str, columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in clean(message.lines().next().unwrap_or_default()).split(' ') {
        match rows.last_mut() {
            Some(row) if row.chars().count() + 1 + word.chars().count() <= columns => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}

/// A value that was seen.
pub fn value(value: &Value) -> String {
    match value {
        Value::String(text) => clean(text),
        other => other.to_string(),
    }
}

/// A type's simple name: `Map` of `java.util.Map`, `int[]` of itself.
pub fn simple(of: &str) -> &str {
    of.rsplit('.').next().unwrap_or(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_fit_their_size() {
        assert_eq!(
            [0.0, 0.04, 3.25, 9.96, 1234.6].map(rate),
            ["0", "0.0", "3.2", "10", "1,235"]
        );
        assert_eq!((percent(1, 3), percent(1, 0)), ("33.3%".into(), "-".into()));
        assert_eq!(
            [None, Some(0.0), Some(0.0312), Some(0.5)].map(cost),
            ["–", "0.0%", "3.1%", "50%"]
        );
        assert_eq!(left("Desk", 6), "Desk  ");
        assert_eq!(left("com.shop.Desk", 9).chars().count(), 9);
        assert_eq!(rows("ab cd efghij\nx", 5), ["ab cd", "efghij"]);
        assert_eq!(clean("a\x1b[2J\n"), "a\u{fffd}[2J\u{fffd}");
    }
}
