//! Checks of the text that commands print.

/// Returns whether `line` contains all of these words in this order.
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

/// Returns whether a line of `text` contains all of these words in this order.
pub fn has_line(text: &str, words: &[&str]) -> bool {
    text.lines().any(|line| has_words(line, words))
}

/// Returns the rows of a table of times, sorted: the count and the name of each row. A row with
/// times has a count, three times and a name; all other rows are skipped.
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
