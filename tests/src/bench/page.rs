//! Generates the page `docs/benchmarks.md` from the records in `docs/benchmarks/`.

use std::fmt::Write;

use super::record::{Goal, Record};
use crate::trust::part::Table;
use crate::trust::render::{section, write_table};

/// The text before the first record.
const HEAD: &str = "# Benchmarks\n\n\
     The cost of Veneer, beside that of alternative tools on the same work in one session. `make \
     bench` generates this page from the files in `docs/benchmarks/`, which have every single \
     value; only the notes at the end are written by hand. `make bench-quick` prints a sample in \
     minutes.\n\n\
     Runs are interleaved: each group has one run of every variant, each in a fresh JVM with a \
     heap of fixed size, and a ratio compares runs of one group. The page shows the median over \
     the groups and, in brackets, the lowest and the highest value. The results of every run of a \
     workload are compared with those of the plain run.\n\n";

/// The line after which text is written by hand. This text is kept when the page is generated.
pub const NOTES: &str = "<!-- notes -->";

/// Returns the commit that a line of the page names.
pub fn commit_in(line: &str) -> Option<&str> {
    line.strip_prefix("Sources: ")?.strip_suffix('.')
}

/// Returns the page. `notes` is the text after [`NOTES`] in the old page; `missing` names the parts
/// without a record.
pub fn page(commit: &str, records: &[Record], missing: &[&str], notes: &str) -> String {
    let mut out = String::from(HEAD);
    let _ = writeln!(out, "Sources: {commit}.\n");
    if !missing.is_empty() {
        let _ = writeln!(out, "Not run in full yet: {}.\n", missing.join(", "));
    }
    in_short(&mut out, records);
    for record in records {
        let mut part = record.part.clone();
        part.title = format!("{} ({})", part.title, record.jdk);
        part.words.push(format!(
            "Made on {}. {}. Each JVM: `{}`.",
            record.machine,
            record.veneer,
            record.options.join(" ")
        ));
        section(&mut out, &part);
    }
    goals(&mut out, records);
    made_on(&mut out, records);
    let _ = writeln!(out, "{NOTES}{notes}");
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The measured figures that are one number.
fn in_short(out: &mut String, records: &[Record]) {
    out.push_str("## Results in short\n\n");
    let mut table = Table::new("", &["what", "JDK", "measured"]);
    for record in records {
        let is_number = |goal: &&Goal| goal.figure.starts_with(|c: char| c.is_ascii_digit());
        for goal in record.goals.iter().filter(is_number) {
            let row = [&goal.what, &record.jdk, &goal.figure];
            table.rows.push(row.map(String::clone).to_vec());
        }
    }
    write_table(out, &table);
}

fn made_on(out: &mut String, records: &[Record]) {
    out.push_str("## The runs of this page\n\n");
    let mut table = Table::new("", &["part", "JDK", "runs that failed", "took"]);
    for record in records {
        let minutes = record.part.seconds / 60.0;
        table.rows.push(vec![
            record.part.title.clone(),
            record.jdk.clone(),
            record.part.failures.len().to_string(),
            format!("{minutes:.1} min"),
        ]);
    }
    write_table(out, &table);
}

fn goals(out: &mut String, records: &[Record]) {
    let all = || records.iter().flat_map(|r| &r.goals);
    let missed = all().filter(|goal| !goal.met).count();
    let _ = writeln!(
        out,
        "## Goals\n\nThe goals are those that the project has set itself. {} of {} are met.\n",
        all().count() - missed,
        all().count()
    );
    let mut table = Table::new("", &["what", "JDK", "goal", "measured", ""]);
    for record in records {
        for Goal {
            what,
            goal,
            figure,
            met,
        } in &record.goals
        {
            table.rows.push(vec![
                what.clone(),
                record.jdk.clone(),
                goal.clone(),
                figure.clone(),
                if *met { "met" } else { "**missed**" }.to_string(),
            ]);
        }
    }
    write_table(out, &table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::Part;

    #[test]
    fn missed_goals_and_notes_are_on_the_page() {
        let record = Record {
            part: Part::new("steady", "Steady state"),
            jdk: "JDK 25".into(),
            machine: "m".into(),
            options: vec!["-Xmx512m".into()],
            veneer: "veneer 0.1.0".into(),
            goals: vec![
                Goal::at_most("armed", 1.01, "", 1.2),
                Goal::at_most("timer", 30.0, "ns", 20.0),
            ],
            figures: Vec::new(),
        };
        let page = page(
            "commit x",
            &[record],
            &["growth"],
            "\n## Notes\n\nBy hand.\n",
        );
        for text in [
            "1 of 2 are met.",
            "| armed | JDK 25 | 1.20 |",
            "Not run in full yet: growth.",
            "| armed | JDK 25 | ≤ 1.01 | 1.20 | **missed** |",
            "## Steady state (JDK 25)",
            "<!-- notes -->\n## Notes\n\nBy hand.",
        ] {
            assert!(page.contains(text), "{text} is not in\n{page}");
        }
        assert_eq!(page.lines().find_map(commit_in), Some("commit x"));
    }
}
