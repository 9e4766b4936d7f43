//! Formats numbers, durations and names for readers.

/// Formats a number with thousands separators: `1,234,567`.
pub fn format_count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats nanoseconds with three significant digits: `850 ns`, `1.23 µs`, `45.6 ms`, `7.89 s`.
/// From one minute the form is `2 m 05 s`, from one hour `3 h 07 m`.
pub fn format_duration(ns: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    if ns < 1_000 {
        return format!("{ns} ns");
    }
    // A value that would round to 1000 of a unit is shown in the next unit.
    for (unit, scale) in [("µs", 1_000), ("ms", 1_000_000), ("s", SECOND)] {
        let limit = if scale == SECOND { 59.95 } else { 999.5 };
        let value = ns as f64 / scale as f64;
        if value < limit {
            let digits = match value {
                v if v < 9.995 => 2,
                v if v < 99.95 => 1,
                _ => 0,
            };
            return format!("{value:.digits$} {unit}");
        }
    }
    let seconds = ns.saturating_add(SECOND / 2) / SECOND;
    if seconds < 3_600 {
        format!("{} m {:02} s", seconds / 60, seconds % 60)
    } else {
        format!(
            "{} h {:02} m",
            format_count(seconds / 3_600),
            seconds / 60 % 60
        )
    }
}

/// Formats `part` of `total` in percent with one decimal; `-` if `total` is 0.
pub(super) fn format_share(part: u64, total: u64) -> String {
    if total == 0 {
        return "-".to_owned();
    }
    format!("{:.1}%", part as f64 * 100.0 / total as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(format_count(number), text);
        }
        assert_eq!(format_count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn durations() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (9_996, "10.0 µs"),
            (99_960, "100 µs"),
            (999_499, "999 µs"),
            (999_600, "1.00 ms"),
            (45_600_000, "45.6 ms"),
            (1_234_000_000, "1.23 s"),
            (59_900_000_000, "59.9 s"),
            (59_960_000_000, "1 m 00 s"),
            (125_000_000_000, "2 m 05 s"),
            (3_599_600_000_000, "1 h 00 m"),
            (11_220_000_000_000, "3 h 07 m"),
        ] {
            assert_eq!(format_duration(ns), text, "{ns}");
        }
        assert_eq!(format_duration(u64::MAX), "5,124,095 h 34 m");
    }
}
