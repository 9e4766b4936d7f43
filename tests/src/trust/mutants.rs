//! The part `checker`: small changes to emitted code, one at a time, each of which the checker must
//! detect.
//!
//! The tests of `veneer-fragmenter` make and judge the mutants; this part reads their table. Quick
//! scope uses a few classes of the JDK, full scope a thousand.

use std::time::{Duration, Instant};

use super::{Part, Scope, Table, TrustError};
use crate::folder::workspace;
use crate::process::Process;

/// The headings of the printed table after the first one, which is the kind of change.
const FIGURES: [&str; 5] = ["mutants", "killed", "own", "equivalent", "unexplained"];

/// Runs the part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let start = Instant::now();
    let mut part = Part::new("checker", "Mutants against the checker");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let test = if scope.quick {
        "a_few_mutants"
    } else {
        "many_mutants"
    };
    let output = Process::new(cargo)
        .args(["test", "--release", "--quiet", "-p", "veneer-fragmenter"])
        .args(["--test", "check_mutants", "--", test, "--exact"])
        .args(["--include-ignored", "--nocapture"])
        .folder(&workspace())
        .limit(Duration::from_secs(1200))
        .run()?;
    let rows: Vec<Vec<String>> = output.out.lines().filter_map(row).collect();
    if output.code != 0 {
        let last: Vec<&str> = output.err.lines().rev().take(12).collect();
        part.failures.push(format!("{test}: {}", last.join(" / ")));
    }
    if rows.len() < 2 {
        part.failures.push(format!("{test} printed no table"));
    }
    part.words = vec![
        "The checker proves, from the bytes of every armed body and every version, that it \
         behaves as the original method, except for edits and Veneer's own instructions (`veneer \
         check`, `--check`). This part changes emitted code on purpose: one change at a time, in \
         classes of the JDK under all policies, armed, counted, timed and logged. A change that \
         the JVM's verifier would reject anyway is not counted."
            .into(),
        "Each change that the checker accepts is explained from the instructions alone. *Own*: it \
         affects only Veneer's measurements: another counter of the same method, a timer, a log, \
         the position for stack traces, a skipped check, or the content of a variable before a \
         moved activation has its values. *Equivalent*: it has no observable effect: unreachable \
         code, a variable that is not read, handlers or targets with the same effect. No change \
         may be *unexplained* in the quick scope, and at most one in ten thousand in the full \
         scope."
            .into(),
    ];
    let mut table = Table::new(
        "One change each",
        &[
            "change",
            FIGURES[0],
            FIGURES[1],
            "only Veneer's own",
            FIGURES[3],
            FIGURES[4],
        ],
    );
    for row in rows {
        table.rows.push(row);
    }
    part.tables.push(table);
    Ok(part.with_duration_since(start))
}

/// Parses a row of the printed table: a kind of change in words, and its numbers.
fn row(line: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (kind, figures) = words.split_at_checked(words.len().checked_sub(FIGURES.len())?)?;
    let all = figures.iter().all(|f| f.parse::<u64>().is_ok());
    if kind.is_empty() || !all {
        return None;
    }
    let mut row = vec![kind.join(" ")];
    row.extend(figures.iter().map(|f| (*f).to_string()));
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_other_lines_are_not() {
        let line = "local index                   120      100       12           8            0";
        let expected = ["local index", "120", "100", "12", "8", "0"];
        assert_eq!(row(line).unwrap(), expected);
        assert_eq!(row("kind  mutants killed own equivalent unexplained"), None);
        assert_eq!(row("1 2 3 4 5"), None);
        assert_eq!(row("900 of 1000 killed"), None);
    }
}
