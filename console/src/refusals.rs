//! `veneer refusals`: lists the methods that the agent in a running JVM did not arm, with the
//! reasons.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Result, bail};
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
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        serde_json::to_writer_pretty(&mut stdout, &rows).map_err(io::Error::from)?;
        writeln!(stdout)?;
    } else {
        write(&mut stdout, &rows, Style::of_stdout())?;
    }
    stdout.flush()?;
    Ok(0)
}

fn write(to: &mut impl Write, rows: &[RefusalRow], style: Style) -> io::Result<()> {
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
    writeln!(to)?;
    let cells: Vec<[String; 4]> = rows
        .iter()
        .map(|row| {
            let method = match row.method.as_str() {
                "" => "(whole class)",
                method => method,
            };
            [&row.class, method, &row.reason, &row.detail].map(String::from)
        })
        .collect();
    table::write(to, ["class", "method", "reason", "detail"], &cells, style)
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
        let style = Style {
            colour: false,
            width: Some(60),
        };
        let mut text = Vec::new();
        write(&mut text, &rows, style).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(
            text.ends_with("a.C    n()V           MethodTooLarge  because\n"),
            "{text}"
        );
        assert!(
            text.starts_with("reason          classes  methods\nDamaged         1        0\nMethodTooLarge  0        2\n\nclass"),
            "{text}"
        );
    }
}
