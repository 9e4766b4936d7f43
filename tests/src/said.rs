//! What commands print, as tests look at it.

/// Whether a line has these words, in this order.
pub fn has_words(line: &str, words: &[&str]) -> bool {
    let mut rest = line;
    words.iter().all(|word| match rest.split_once(word) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

/// Whether one of the lines has.
pub fn has_line(text: &str, words: &[&str]) -> bool {
    text.lines().any(|line| has_words(line, words))
}

/// The rows of a table of times, in order: how often, and for what. What is neither a count with three times nor has such is left out.
pub fn timed(text: &str) -> Vec<(u64, String)> {
    let rows = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let count = words.next()?.parse().ok()?;
        let times: Vec<&str> = words.by_ref().take(3).collect();
        let numbers = times.iter().all(|t| t.parse::<f64>().is_ok());
        let text = words.collect::<Vec<_>>().join(" ");
        (numbers && times.len() == 3).then_some((count, text))
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    rows
}
