//! `veneer report --html`: recordings in one HTML file. The file is made in `veneer-gateway`.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use veneer_gateway::page::{ReportContent, report};

use crate::output::print_note;
use crate::quantity::quantity;
use crate::replaced_file::replace_file;

/// Writes the report, and says on standard error how large it is.
pub fn write(output: &Path, recordings: Vec<PathBuf>) -> Result<()> {
    let content = ReportContent {
        veneer: env::current_exe().context("the path of this command is not known")?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        recordings,
    };
    let report = report(&content)?;
    replace_file(output, |out| Ok(out.write_all(&report.html)?))?;
    print_note(&format_args!(
        "{}: {}, {} kB; open it in a browser",
        output.display(),
        quantity(report.recordings as u64, "recording"),
        report.html.len().div_ceil(1000)
    ));
    Ok(())
}
