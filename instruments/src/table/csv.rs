//! Renders the entries of a table as comma-separated values (RFC 4180).

use crate::{RATE_WINDOW_SECONDS, Tally, TallyEntry, TallyKind};

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
    writer.write_record(key_names.chain(heads(kind)))?;
    for entry in &tally.entries {
        let mut cells: Vec<String> = entry.keys.iter().map(ToString::to_string).collect();
        cells.resize(keys, String::new());
        cells.extend(value_cells(entry, kind));
        writer.write_record(cells)?;
    }
    writer.flush().map_err(csv::Error::from)?;
    drop(writer);
    // All cells are UTF-8, so no character is replaced.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the names of the value columns, which follow the keys.
fn heads(kind: TallyKind) -> Vec<String> {
    let fixed: &[&str] = match kind {
        TallyKind::Sums | TallyKind::Histogram | TallyKind::Linear(_) => {
            &["count", "sum", "min", "max"]
        }
        TallyKind::Rate => &["count", "per_second"],
        TallyKind::Distinct => &["distinct", "count"],
        TallyKind::Top => &["count", "error"],
        TallyKind::Last | TallyKind::Sample => &["number", "time_ns", "thread_id"],
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => {
            &["count"]
        }
    };
    let mut heads: Vec<String> = fixed.iter().map(ToString::to_string).collect();
    if let TallyKind::Linear(linear) = kind {
        heads.push("below".into());
        heads.extend((0..linear.buckets as usize).map(|n| linear.start(n).to_string()));
        heads.push("above".into());
    }
    heads
}

fn value_cells(entry: &TallyEntry, kind: TallyKind) -> Vec<String> {
    let count = entry.count.to_string();
    match kind {
        TallyKind::Sums | TallyKind::Histogram => sum_cells(entry),
        TallyKind::Linear(linear) => {
            let bucket = |n: usize| entry.buckets.get(n).copied().unwrap_or(0).to_string();
            let mut cells = sum_cells(entry);
            cells.extend((0..linear.buckets as usize + 2).map(bucket));
            cells
        }
        TallyKind::Rate => {
            let rate = entry.rate.clone().unwrap_or_default();
            vec![count, rate.per_second(RATE_WINDOW_SECONDS).to_string()]
        }
        TallyKind::Distinct => vec![entry.distinct.to_string(), count],
        TallyKind::Top => vec![count, entry.error.to_string()],
        TallyKind::Last | TallyKind::Sample => {
            let at = entry.at.unwrap_or_default();
            vec![
                at.number.to_string(),
                at.time_ns.to_string(),
                at.thread_id.to_string(),
            ]
        }
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => {
            vec![count]
        }
    }
}

fn sum_cells(entry: &TallyEntry) -> Vec<String> {
    let values = [entry.sum, entry.min, entry.max].map(|n| n.to_string());
    std::iter::once(entry.count.to_string())
        .chain(values)
        .collect()
}
