//! Texts of times and of findings.

use veneer_traces::Findings;

/// A duration with three significant digits: `1.23 ms`.
pub fn duration(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    match value {
        v if v < 9.995 => format!("{v:.2} {unit}"),
        v if v < 99.95 => format!("{v:.1} {unit}"),
        v => format!("{v:.0} {unit}"),
    }
}

/// A text without control characters, because names in a trace can move the cursor.
pub fn clean(text: &str) -> String {
    let clean = text.chars().map(|c| match c.is_control() {
        true => '\u{fffd}',
        false => c,
    });
    clean.collect()
}

/// The findings that are not 0, as one line; empty if there are none.
pub fn findings(findings: &Findings) -> String {
    let found = findings.list().into_iter().filter(|(_, count)| *count > 0);
    let parts: Vec<String> = found
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("not seen: {}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_234, "1.23 µs"),
            (45_678, "45.7 µs"),
            (999_000, "999 µs"),
            (12_345_678, "12.3 ms"),
            (5_000_000_000, "5.00 s"),
            (5_000_000_000_000, "5000 s"),
        ] {
            assert_eq!(duration(ns), text);
        }
    }
}
