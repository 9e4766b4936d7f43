//! Formats the status of an agent for people.

use veneer_protocol::{Status, TableUse};

/// Formats milliseconds as an age: `45 s`, `12 min`, `3 h 20 min`, `5 d 2 h`.
pub fn format_age(millis: u64) -> String {
    let (s, min) = (millis / 1000, millis / 60_000);
    match min {
        0..2 => format!("{s} s"),
        2..60 => format!("{min} min"),
        60..1440 => format!("{} h {} min", min / 60, min % 60),
        _ => format!("{} d {} h", min / 1440, min / 60 % 24),
    }
}

/// Returns how many instruments and patches are attached, in words.
pub fn format_attachments(status: &Status) -> String {
    let instruments: usize = status.loads.iter().map(|load| load.instruments.len()).sum();
    let patches: usize = status.loads.iter().map(|load| load.patches.len()).sum();
    let several = |n: usize, what: &str| match n {
        1 => format!("1 {what}"),
        n if what.ends_with("ch") => format!("{n} {what}es"),
        n => format!("{n} {what}s"),
    };
    match (instruments, patches) {
        (0, 0) => "nothing".into(),
        (i, 0) => several(i, "instrument"),
        (0, p) => several(p, "patch"),
        (i, p) => format!("{}, {}", several(i, "instrument"), several(p, "patch")),
    }
}

/// One line about the tables of a JVM; `None` while more than half of their room is free.
pub fn format_tables(tables: &TableUse) -> Option<String> {
    const MIB: u64 = 1 << 20;
    if tables.bytes <= tables.room / 2 {
        return None;
    }
    let plans = tables
        .by_plan
        .iter()
        .map(|(plan, n)| format!("{n} of {plan}"));
    let plans: Vec<String> = plans.collect();
    let plans = match plans.is_empty() {
        true => String::new(),
        false => format!(" ({})", plans.join(", ")),
    };
    Some(format!(
        "tables: {} in use, {} left behind{plans}; {} of {} MiB",
        tables.in_use,
        tables.left_behind,
        tables.bytes.div_ceil(MIB),
        tables.room / MIB
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_shown_with_their_plans() {
        let mut tables = TableUse::default();
        assert_eq!(format_tables(&tables), None);
        tables.left_behind = 1;
        tables.room = 256 << 20;
        tables.bytes = 200 << 20;
        assert_eq!(
            format_tables(&tables).unwrap(),
            "tables: 0 in use, 1 left behind; 200 of 256 MiB"
        );
        tables.in_use = 3;
        tables.by_plan = [("count".into(), 2)].into();
        assert!(
            format_tables(&tables)
                .unwrap()
                .contains("3 in use, 1 left behind (2 of count)")
        );
    }

    #[test]
    fn ages_are_formatted_for_people() {
        for (millis, text) in [
            (999, "0 s"),
            (119_000, "119 s"),
            (120_000, "2 min"),
            (12_000_000, "3 h 20 min"),
            (439_200_000, "5 d 2 h"),
        ] {
            assert_eq!(format_age(millis), text);
        }
    }
}
