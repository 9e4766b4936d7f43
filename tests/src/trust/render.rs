//! Renders parts as Markdown.

use std::fmt::Write;

use super::part::{Part, Table};

/// Returns the page `docs/trust.md`.
pub fn page(machine: &str, parts: &[Part]) -> String {
    let mut out = String::from(
        "# Trust\n\nThe evidence that a program behaves the same under Veneer as without it. \
         `make trust` generates this page from the files in `docs/trust/`; nothing on it is \
         written by hand.\n\n",
    );
    let _ = writeln!(out, "Machine: {machine}.\n");
    summary(&mut out, parts);
    for part in parts {
        section(&mut out, part);
    }
    out
}

fn summary(out: &mut String, parts: &[Part]) {
    let mut table = Table::new("", &["part", "outcome", "took", "sources"]);
    for part in parts {
        let outcome = match part.failures.len() {
            0 => "passes".to_string(),
            n => format!("**{n} failures**"),
        };
        table.rows.push(vec![
            format!("[{}](#{})", part.title, anchor(&part.title)),
            outcome,
            minutes(part.seconds),
            part.sources.clone(),
        ]);
    }
    write_table(out, &table);
}

/// Writes a part: its heading, text, tables and failures.
pub fn section(out: &mut String, part: &Part) {
    let _ = writeln!(out, "## {}\n", part.title);
    for paragraph in &part.words {
        let _ = writeln!(out, "{paragraph}\n");
    }
    for table in &part.tables {
        write_table(out, table);
    }
    if !part.failures.is_empty() {
        let _ = writeln!(out, "**Failures**\n");
        for failure in part.failures.iter().take(50) {
            let _ = writeln!(out, "* `{}`", failure.lines().next().unwrap_or_default());
        }
        if let Some(more) = part.failures.len().checked_sub(51) {
            let _ = writeln!(out, "* … {} more", more + 1);
        }
        out.push('\n');
    }
}

/// Writes a table and an empty line.
pub fn write_table(out: &mut String, table: &Table) {
    if !table.title.is_empty() {
        let _ = writeln!(out, "**{}**\n", table.title);
    }
    let _ = writeln!(out, "| {} |", table.columns.join(" | "));
    let _ = writeln!(out, "|{}", " --- |".repeat(table.columns.len()));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|c| c.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
}

/// Returns the anchor that Git hosts create for a heading.
fn anchor(title: &str) -> String {
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-');
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn minutes(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    format!("{}:{:02} min", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_part_is_shown_in_the_summary_and_in_its_section() {
        let mut part = Part::new("x", "A part, of many");
        part.failures.push("it broke\nat line 2".into());
        let mut table = Table::new("Figures", &["a", "b"]);
        table.rows.push(vec!["1".into(), "x|y".into()]);
        part.tables.push(table);
        let page = page("m", &[part]);
        for text in [
            "[A part, of many](#a-part-of-many) | **1 failures** | 0:00 min",
            "* `it broke`",
            "| 1 | x\\|y |",
        ] {
            assert!(page.contains(text), "{text} is not in\n{page}");
        }
    }
}
