//! Renders the entries of a table as comma-separated values (RFC 4180).

use super::outputs::{csv_cells, csv_columns};
use crate::{Tally, TallyKind};

/// Why a table could not be written as comma-separated values.
#[derive(Debug, thiserror::Error)]
#[error("the table cannot be written as CSV: {0}")]
pub struct CsvError(#[from] csv::Error);

/// Renders all entries as comma-separated values (RFC 4180), with a header line.
///
/// # Errors
/// The writer failed. A writer into memory has no reason to fail.
pub fn render_csv(tally: &Tally, kind: TallyKind) -> Result<String, CsvError> {
    let keys = tally
        .entries
        .iter()
        .map(|e| e.keys.len())
        .max()
        .unwrap_or(0);
    let mut bytes = Vec::new();
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(&mut bytes);
    let key_names = (1..=keys).map(|n| format!("key{n}"));
    writer.write_record(key_names.chain(csv_columns(kind)))?;
    for entry in &tally.entries {
        let mut cells: Vec<String> = entry.keys.iter().map(ToString::to_string).collect();
        cells.resize(keys, String::new());
        cells.extend(csv_cells(entry, kind));
        writer.write_record(cells)?;
    }
    writer.flush().map_err(csv::Error::from)?;
    drop(writer);
    // All cells are UTF-8, so no character is replaced.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
