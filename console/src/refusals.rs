//! `veneer refusals`: lists the methods that the agent in a running JVM did not arm, with the
//! reasons.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Result, bail};
use veneer_instruments::table::format_count;
use veneer_protocol::{RefusalRow, Reply, Request};

use crate::cli::RefusalsArguments;
use crate::output::Style;
use crate::table;
use veneer_client::Target;
use veneer_client::{Client, ControlError};

/// Prints the table and returns the exit code.
pub fn run(arguments: RefusalsArguments) -> Result<u8> {
    let target = Target::inspect(arguments.pid)?;
    let Some(mut client) = Client::connect(&target)? else {
        bail!(
            "there is no agent in process {pid}; start it under `veneer run`, or load the agent with `veneer exec {pid} -e '()'`",
            pid = target.pid
        );
    };
    client.send(&Request::Refusals {})?;
    let mut rows = match client.receive()? {
        Reply::Refusals(rows) => rows,
        Reply::Failed { message } => bail!("{message}"),
        _ => return Err(ControlError::Unexpected(target.pid).into()),
    };
    rows.sort();
    if let Some(reason) = &arguments.reason {
        rows.retain(|row| row.reason == *reason);
    }
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        serde_json::to_writer_pretty(&mut stdout, &rows).map_err(io::Error::from)?;
        writeln!(stdout)?;
    } else {
        let lists_all = arguments.all || arguments.reason.is_some();
        write(&mut stdout, &rows, lists_all, Style::of_stdout())?;
    }
    stdout.flush()?;
    Ok(0)
}

/// The number of refusals that are listed unless all are asked for.
const LISTED: usize = 20;

/// Packages of the JDK.
const OF_JDK: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

fn is_of_jdk(row: &RefusalRow) -> bool {
    OF_JDK.iter().any(|package| row.class.starts_with(package))
}

/// Writes the number of refusals by reason, and then refusals: all, or the first ones in classes
/// outside the JDK.
fn write(
    to: &mut impl Write,
    rows: &[RefusalRow],
    lists_all: bool,
    style: Style,
) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(to, "nothing was refused");
    }
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in rows {
        let (classes, methods) = counts.entry(&row.reason).or_default();
        if row.method.is_empty() {
            *classes += 1;
        } else {
            *methods += 1;
        }
    }
    let cells: Vec<[String; 3]> = counts
        .into_iter()
        .map(|(reason, (classes, methods))| {
            [reason.to_owned(), classes.to_string(), methods.to_string()]
        })
        .collect();
    table::write(to, ["reason", "classes", "methods"], &cells, style)?;
    let most = if lists_all { rows.len() } else { LISTED };
    let wanted = rows.iter().filter(|row| lists_all || !is_of_jdk(row));
    let cells: Vec<[String; 4]> = wanted
        .take(most)
        .map(|row| {
            let method = match row.method.as_str() {
                "" => "(whole class)".to_owned(),
                method => veneer_names::short_java_signature(method),
            };
            [
                row.class.clone(),
                method,
                row.reason.clone(),
                row.detail.clone(),
            ]
        })
        .collect();
    if !cells.is_empty() {
        writeln!(to)?;
        table::write(to, ["class", "method", "reason", "detail"], &cells, style)?;
    }
    match rows.len() - cells.len() {
        0 => Ok(()),
        more => writeln!(
            to,
            "\n{} more; --all lists all, --reason NAME those for one reason",
            format_count(more as u64)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(class: &str, method: &str, reason: &str) -> RefusalRow {
        RefusalRow {
            class: class.into(),
            method: method.into(),
            reason: reason.into(),
            detail: "because".into(),
        }
    }

    #[test]
    fn counts_by_reason_come_first() {
        let rows = [
            refusal("a.B", "m()V", "MethodTooLarge"),
            refusal("a.C", "", "Damaged"),
            refusal("a.C", "n()V", "MethodTooLarge"),
        ];
        let text = written(&rows, false);
        assert!(
            text.ends_with("a.C    n()            MethodTooLarge  because\n"),
            "{text}"
        );
        assert!(
            text.starts_with("reason          classes  methods\nDamaged         1        0\nMethodTooLarge  0        2\n\nclass"),
            "{text}"
        );
    }

    fn written(rows: &[RefusalRow], lists_all: bool) -> String {
        let style = Style {
            colour: false,
            width: Some(60),
        };
        let mut text = Vec::new();
        write(&mut text, rows, lists_all, style).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn classes_of_the_jdk_are_counted_and_not_listed() {
        let mut rows = vec![refusal("java.lang.Object", "", "OnCellPath")];
        let own = (0..25).map(|n| refusal(&format!("a.B{n:02}"), "m()V", "InlineLimit"));
        rows.extend(own);
        let text = written(&rows, false);
        assert!(text.contains("OnCellPath   1        0\n"), "{text}");
        assert!(
            !text.contains("java.lang.Object") && text.contains("a.B19"),
            "{text}"
        );
        let end = "\n\n6 more; --all lists all, --reason NAME those for one reason\n";
        assert!(text.ends_with(end), "{text}");
        let all = written(&rows, true);
        assert!(
            all.contains("java.lang.Object") && all.contains("a.B24"),
            "{all}"
        );
        assert!(!all.contains("more;"), "{all}");
        // Only classes of the JDK: there is nothing to list.
        let text = written(&rows[..1], false);
        assert_eq!(text.lines().count(), 4, "{text}");
    }
}
