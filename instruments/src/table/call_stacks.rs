//! Renders tables whose keys are call stacks, as collapsed stacks or as text.
//!
//! Collapsed stacks are the input format of flame graphs: one line for each stack, the outermost
//! method first, then the count.
//!
//! ```text
//!   java.lang.Thread.run;shop.Desk.main;shop.Desk.serve 1234
//! ```

use super::text::{format_count, format_share};
use crate::{Tally, TallyEntry, TallyKey};
use std::collections::BTreeMap;
use veneer_text::replace_control_characters;

/// Returns the weight of an entry: its sum for a table with values, otherwise its count.
fn weight(entry: &TallyEntry, by_sum: bool) -> u64 {
    match by_sum {
        true => u64::try_from(entry.sum).unwrap_or(0),
        false => entry.count,
    }
}

/// Returns a frame without its line number. The separator `;` is replaced in names.
fn method(line: &str) -> String {
    let name = match line.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => line,
    };
    name.replace(';', ",")
}

/// Renders collapsed stacks: the methods from the outermost to the innermost, then the other keys
/// in order, as if they were frames. Entries that differ only in line numbers are added up. Entries
/// without a call stack are left out.
pub fn render_collapsed(tally: &Tally, by_sum: bool) -> String {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for entry in &tally.entries {
        let mut frames = Vec::new();
        let mut inner = Vec::new();
        for key in &entry.keys {
            match key {
                TallyKey::Stack(lines) if !lines.is_empty() => {
                    frames.extend(lines.iter().rev().map(|line| method(line)));
                }
                other => inner.push(other.to_string().replace(';', ",")),
            }
        }
        if frames.is_empty() {
            continue;
        }
        frames.append(&mut inner);
        let sum = all.entry(frames.join(";")).or_default();
        *sum = sum.saturating_add(weight(entry, by_sum));
    }
    all.iter()
        .map(|(stack, n)| format!("{stack} {n}\n"))
        .collect()
}

/// Renders the `n` heaviest stacks. A line before each stack shows its weight and its other keys.
pub fn render_stacks(tally: &Tally, by_sum: bool, n: usize) -> String {
    let mut all: Vec<&TallyEntry> = tally.entries.iter().collect();
    all.sort_by_key(|entry| std::cmp::Reverse(weight(entry, by_sum)));
    let total = all.iter().fold(weight(&tally.rest, by_sum), |sum, entry| {
        sum.saturating_add(weight(entry, by_sum))
    });
    let mut out = String::new();
    for entry in all.iter().take(n) {
        let own = weight(entry, by_sum);
        out += &format!("{}  {}", format_count(own), format_share(own, total));
        let (stacks, others): (Vec<&TallyKey>, Vec<&TallyKey>) = entry
            .keys
            .iter()
            .partition(|key| matches!(key, TallyKey::Stack(_)));
        for key in others {
            out += &format!("  {}", replace_control_characters(&key.to_string()));
        }
        out.push('\n');
        for key in stacks {
            match key {
                TallyKey::Stack(lines) if !lines.is_empty() => {
                    lines.iter().for_each(|line| {
                        out += &format!("    {}\n", replace_control_characters(line))
                    });
                }
                other => out += &format!("    {other}\n"),
            }
        }
    }
    let shown = n.min(all.len());
    out += &format!(
        "{} in {} stacks",
        format_count(total),
        format_count(all.len() as u64)
    );
    if shown < all.len() {
        out += &format!(", of which {shown} are shown");
    }
    if tally.rest.count > 0 {
        out += &format!(
            "; {} found no room",
            format_count(weight(&tally.rest, by_sum))
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(lines: &[&str], other: Option<&str>, count: u64, sum: i64) -> TallyEntry {
        let lines = lines.iter().map(ToString::to_string).collect();
        let other = other.map(|text| TallyKey::Text(Some(text.into())));
        TallyEntry {
            keys: [TallyKey::Stack(lines)].into_iter().chain(other).collect(),
            count,
            sum,
            ..TallyEntry::default()
        }
    }

    fn tally() -> Tally {
        Tally {
            entries: vec![
                entry(&["a.B.m:1", "a.B.main"], None, 2, 20),
                entry(&["a.B.m:2", "a.B.main"], None, 3, 5),
                entry(&["a.B.n:7", "a.B.main"], Some("x;y"), 4, 1),
                entry(&[], None, 1, 1),
            ],
            rest: TallyEntry::default(),
            given: None,
        }
    }

    #[test]
    fn collapsed_stacks_ignore_line_numbers() {
        let counts = render_collapsed(&tally(), false);
        assert_eq!(counts, "a.B.main;a.B.m 5\na.B.main;a.B.n;x,y 4\n");
        let sums = render_collapsed(&tally(), true);
        assert_eq!(sums, "a.B.main;a.B.m 25\na.B.main;a.B.n;x,y 1\n");
    }

    #[test]
    fn stacks_are_rendered_heaviest_first() {
        let text = render_stacks(&tally(), false, 2);
        let expected = "\
4  40.0%  x;y
    a.B.n:7
    a.B.main
3  30.0%
    a.B.m:2
    a.B.main
10 in 4 stacks, of which 2 are shown";
        assert_eq!(text, expected);
        assert!(render_stacks(&tally(), true, 9).starts_with("20  74.1%\n    a.B.m:1\n"));
    }
}
