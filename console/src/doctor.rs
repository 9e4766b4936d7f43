//! `veneer doctor`: reports what works on this machine, what does not, and how to fix it.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use veneer_client::diagnostics::{Finding, Severity, diagnose_machine, diagnose_process};
use veneer_text::pad_right;

use crate::cli::DoctorArguments;
use crate::output::Style;

/// Exit code if something does not work.
const EXIT_BAD_FINDING: u8 = 1;

#[derive(Serialize)]
struct Row<'f> {
    what: &'f str,
    state: &'f str,
    found: &'f str,
    remedy: &'f str,
}

/// Prints the findings and returns the exit code.
pub fn run(arguments: DoctorArguments) -> Result<u8> {
    let mut findings = diagnose_machine();
    if let Some(pid) = arguments.pid {
        findings.extend(diagnose_process(pid));
    }
    let mut stdout = io::stdout().lock();
    if arguments.json {
        let rows: Vec<Row> = findings.iter().map(row).collect();
        serde_json::to_writer_pretty(&mut stdout, &rows).map_err(io::Error::from)?;
        writeln!(stdout)?;
    } else {
        let style = Style::of_stdout();
        for finding in &findings {
            write(&mut stdout, finding, style)?;
        }
    }
    let bad = findings
        .iter()
        .any(|finding| finding.state == Severity::Bad);
    Ok(if bad { EXIT_BAD_FINDING } else { 0 })
}

fn row(finding: &Finding) -> Row<'_> {
    Row {
        what: finding.what,
        state: finding.state.name(),
        found: &finding.found,
        remedy: &finding.remedy,
    }
}

fn write(to: &mut impl Write, finding: &Finding, style: Style) -> io::Result<()> {
    let state = pad_right(finding.state.name(), 4);
    let state = match finding.state {
        Severity::Good => state,
        _ => style.bold(&state),
    };
    writeln!(to, "{state}  {}: {}", finding.what, finding.found)?;
    if !finding.remedy.is_empty() {
        writeln!(to, "      → {}", finding.remedy)?;
    }
    Ok(())
}
