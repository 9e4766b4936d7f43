//! Views of a memory profile as tables and CSV.

use std::io::{self, Write};

use anyhow::Result;
use veneer_memory::LogHistogram;
use veneer_memory::profile::{
    AllocationRow, CacheCounts, LevelCount, MemoryProfile, SharingRow, ThreadRow, UNKNOWN_MARGIN,
    ViewRow,
};

use crate::output::Style;
use crate::table;

/// The most columns of counts: four levels, L1I and two TLBs.
const COUNT_COLUMNS: usize = 7;

/// Writes one table for each cache description; without a description, one table of accesses.
pub(super) fn tables(
    to: &mut impl Write,
    profile: &MemoryProfile,
    title: &str,
    rows: &[ViewRow],
    limit: usize,
    style: Style,
) -> io::Result<()> {
    let total = profile.total();
    let count = profile.caches.len().max(1);
    for index in 0..count {
        if index > 0 {
            writeln!(to)?;
        }
        if let Some(description) = profile.caches.get(index) {
            writeln!(to, "{description}")?;
        }
        let shown = rows.iter().take(limit).chain([&total]);
        let cells: Vec<_> = shown.map(|row| cells(row, index)).collect();
        let counts = total.caches.get(index).cloned().unwrap_or_default();
        let mut titles = vec![title.to_owned(), "accesses".into()];
        titles.extend(
            names(&counts)
                .into_iter()
                .map(|name| format!("{name} misses")),
        );
        titles.resize(COUNT_COLUMNS + 2, String::new());
        let titles: [&str; COUNT_COLUMNS + 2] =
            std::array::from_fn(|i| titles.get(i).map_or("", String::as_str));
        table::write(to, titles, &cells, style)?;
        more_rows(to, rows.len(), limit)?;
    }
    Ok(())
}

/// Says how many rows a table does not have.
fn more_rows(to: &mut impl Write, count: usize, limit: usize) -> io::Result<()> {
    match count.checked_sub(limit) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(to, "… {more} more rows (--rows)"),
    }
}

fn cells(row: &ViewRow, cache: usize) -> [String; COUNT_COLUMNS + 2] {
    let references = &row.references;
    let accesses = references.accesses().saturating_add(references.fetches);
    let mut cells = vec![row.name.clone(), accesses.to_string()];
    let counts = row.caches.get(cache);
    cells.extend(counts.iter().flat_map(|c| columns(c)).map(misses));
    cells.resize(COUNT_COLUMNS + 2, String::new());
    std::array::from_fn(|i| cells[i].clone())
}

/// All counts of a description, in the order of [`names`].
pub(super) fn columns(counts: &CacheCounts) -> impl Iterator<Item = &LevelCount> {
    let levels = counts.levels.iter();
    levels.chain(&counts.instructions).chain(&counts.tlbs)
}

/// The names of the counts of a description.
pub(super) fn names(counts: &CacheCounts) -> Vec<String> {
    let levels = (1..=counts.levels.len()).map(|n| format!("L{n}"));
    let instructions = counts.instructions.iter().map(|_| "L1I".to_owned());
    let tlbs = ["TLB", "TLB2"].into_iter().take(counts.tlbs.len());
    levels
        .chain(instructions)
        .chain(tlbs.map(str::to_owned))
        .collect()
}

/// Writes misses with their error and their share of the lookups.
pub(super) fn misses(count: &LevelCount) -> String {
    let error = match count.margin {
        0 => String::new(),
        UNKNOWN_MARGIN => " ± ?".into(),
        margin => format!(" ± {margin}"),
    };
    match count.lookups {
        0 => format!("{}{error}", count.misses),
        lookups => {
            let share = 100.0 * count.misses as f64 / lookups as f64;
            format!("{}{error} ({share:.1}%)", count.misses)
        }
    }
}

/// Writes one line for each level of each row. A row without caches has one line.
pub(super) fn csv(
    to: &mut impl Write,
    profile: &MemoryProfile,
    by: &str,
    rows: &[ViewRow],
) -> Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    writer.write_record([
        by,
        "reads",
        "writes",
        "fetches",
        "bytes_read",
        "bytes_written",
        "cache",
        "level",
        "lookups",
        "misses",
        "margin",
    ])?;
    for row in rows {
        let references = &row.references;
        let numbers = [
            references.reads,
            references.writes,
            references.fetches,
            references.bytes_read,
            references.bytes_written,
        ];
        let mut head = vec![row.name.clone()];
        head.extend(numbers.iter().map(ToString::to_string));
        let mut tails: Vec<[String; 5]> = Vec::new();
        for (description, counts) in profile.caches.iter().zip(&row.caches) {
            for (name, count) in names(counts).into_iter().zip(columns(counts)) {
                let margin = match count.margin {
                    UNKNOWN_MARGIN => String::new(),
                    margin => margin.to_string(),
                };
                let (lookups, misses) = (count.lookups.to_string(), count.misses.to_string());
                tails.push([description.clone(), name, lookups, misses, margin]);
            }
        }
        if tails.is_empty() {
            tails.push(Default::default());
        }
        for tail in tails {
            writer.write_record(head.iter().chain(&tail))?;
        }
    }
    writer.flush()?;
    Ok(())
}

/// Writes the allocations with the most bytes.
pub(super) fn allocations(
    to: &mut impl Write,
    profile: &MemoryProfile,
    limit: usize,
    style: Style,
) -> io::Result<()> {
    if profile.allocations.is_empty() {
        return Ok(());
    }
    let mut rows: Vec<&AllocationRow> = profile.allocations.iter().collect();
    rows.sort_by_key(|row| {
        std::cmp::Reverse((row.bytes.max(row.heap_bytes.unwrap_or(0)), row.objects))
    });
    if rows.iter().any(|row| row.heap_bytes_margin.is_some()) {
        return heap_allocations(to, profile, &rows, limit, style);
    }
    let optional = |number: Option<u64>| number.map_or_else(String::new, |n| n.to_string());
    let row = |row: &&AllocationRow| {
        let lives = row.lifetimes.as_deref();
        let median = |span: Option<&LogHistogram>| optional(span.and_then(|h| h.quantile(0.5)));
        [
            profile.site_name(row.site),
            profile.type_name(row.type_id),
            row.objects.to_string(),
            bytes_text(row),
            optional(row.heap_bytes),
            median(lives.map(|l| &l.used[1])),
            median(lives.map(|l| &l.drag[0])),
            optional(lives.map(|l| l.void)),
            optional(lives.map(|l| l.alive)),
        ]
    };
    let cells: Vec<[String; 9]> = rows.iter().take(limit).map(row).collect();
    writeln!(to)?;
    if !rows
        .iter()
        .any(|row| row.heap_bytes.is_some() || row.lifetimes.is_some())
    {
        let cells: Vec<[String; 4]> = cells
            .into_iter()
            .map(|[site, of, objects, bytes, ..]| [site, of, objects, bytes])
            .collect();
        let titles = ["allocated at", "type", "objects", "bytes"];
        return table::write(to, titles, &cells, style);
    }
    let titles = [
        "allocated at",
        "type",
        "objects",
        "bytes",
        "heap bytes",
        "median use (accesses ≥)",
        "median drag (bytes ≥)",
        "never used",
        "alive",
    ];
    table::write(to, titles, &cells, style)
}

/// Writes the allocations in the bytecode beside those on the heap.
fn heap_allocations(
    to: &mut impl Write,
    profile: &MemoryProfile,
    rows: &[&AllocationRow],
    limit: usize,
    style: Style,
) -> io::Result<()> {
    let row = |row: &&AllocationRow| allocation_cells(profile, row);
    let cells: Vec<[String; 6]> = rows.iter().take(limit).map(row).collect();
    let titles = [
        "allocated at",
        "type",
        "objects in bytecode",
        "objects on the heap",
        "bytes in bytecode",
        "bytes on the heap",
    ];
    table::write(to, titles, &cells, style)?;
    if rows.len() > limit {
        writeln!(to, "… {} more rows (--rows)", rows.len() - limit)?;
    }
    Ok(())
}

/// Writes the bytes that the bytecode allocated.
fn bytes_text(row: &AllocationRow) -> String {
    let bytes = row.known_bytes();
    bytes.map_or_else(|| "?".into(), |bytes| bytes.to_string())
}

/// Writes an estimate with its error.
fn estimated(number: Option<u64>, margin: Option<u64>) -> String {
    match (number, margin) {
        (Some(number), Some(0)) => number.to_string(),
        (Some(number), Some(margin)) => format!("{number} ± {margin}"),
        (Some(number), None) => format!("{number} ± ?"),
        (None, _) => String::new(),
    }
}

/// Writes one line for each allocation site.
pub(super) fn allocation_csv(to: &mut impl Write, profile: &MemoryProfile) -> Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    writer.write_record([
        "site",
        "type",
        "objects",
        "bytes",
        "heap_objects",
        "heap_objects_margin",
        "heap_bytes",
        "heap_bytes_margin",
    ])?;
    let optional = |number: Option<u64>| number.map_or_else(String::new, |n| n.to_string());
    for row in &profile.allocations {
        writer.write_record([
            profile.line_name(row.site),
            profile.type_name(row.type_id),
            row.objects.to_string(),
            optional(row.known_bytes()),
            optional(row.heap_objects),
            optional(row.heap_objects_margin),
            optional(row.heap_bytes),
            optional(row.heap_bytes_margin),
        ])?;
    }
    writer.flush()?;
    Ok(())
}

/// Writes the allocations of each thread.
pub(super) fn threads(
    to: &mut impl Write,
    profile: &MemoryProfile,
    limit: usize,
    style: Style,
) -> io::Result<()> {
    if profile.threads.is_empty() {
        return Ok(());
    }
    writeln!(to)?;
    let rows = profile.threads.iter().take(limit).map(thread_cells);
    table::write(to, THREAD_TITLES, &rows.collect::<Vec<_>>(), style)?;
    more_rows(to, profile.threads.len(), limit)
}

/// The titles of [`thread_cells`].
pub(super) const THREAD_TITLES: [&str; 3] = ["allocated by thread", "objects", "bytes"];

/// The cells of the allocations of a thread.
pub(super) fn thread_cells(row: &ThreadRow) -> [String; 3] {
    [
        row.name.clone(),
        row.objects.to_string(),
        row.bytes.to_string(),
    ]
}

/// Writes a line for each thread.
pub(super) fn thread_csv(to: &mut impl Write, profile: &MemoryProfile) -> Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    writer.write_record(["thread", "objects", "bytes"])?;
    for row in &profile.threads {
        writer.write_record(thread_cells(row))?;
    }
    writer.flush()?;
    Ok(())
}

/// Writes the pairs of sites that share lines.
pub(super) fn sharing(
    to: &mut impl Write,
    profile: &MemoryProfile,
    limit: usize,
    style: Style,
) -> io::Result<()> {
    if profile.sharing.is_empty() {
        return Ok(());
    }
    let row = |row: &SharingRow| {
        [
            profile.site_name(row.writer),
            profile.site_name(row.other),
            row.true_misses.to_string(),
            row.false_misses.to_string(),
        ]
    };
    let cells: Vec<[String; 4]> = profile.sharing.iter().take(limit).map(row).collect();
    writeln!(to)?;
    let titles = ["written at", "invalid at", "true sharing", "false sharing"];
    table::write(to, titles, &cells, style)
}

/// The cells of an allocation: site, type, objects in the bytecode and on the heap, bytes in both.
pub(super) fn allocation_cells(profile: &MemoryProfile, row: &AllocationRow) -> [String; 6] {
    [
        profile.line_name(row.site),
        profile.type_name(row.type_id),
        row.objects.to_string(),
        estimated(row.heap_objects, row.heap_objects_margin),
        bytes_text(row),
        estimated(row.heap_bytes, row.heap_bytes_margin),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_have_their_error_and_their_share() {
        let count = |lookups, misses, margin| LevelCount {
            lookups,
            misses,
            margin,
        };
        assert_eq!(misses(&count(200, 50, 0)), "50 (25.0%)");
        assert_eq!(misses(&count(200, 50, 7)), "50 ± 7 (25.0%)");
        assert_eq!(misses(&count(0, 0, UNKNOWN_MARGIN)), "0 ± ?");
    }
}
