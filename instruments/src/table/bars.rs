//! Renders histograms as bars.

use super::text::format_count;
use crate::{LinearBuckets, Tally, TallyEntry, TallyKind, bucket_start};
use veneer_text::{ColumnFormat, TextTable, replace_control_characters};

/// Renders the histograms of the first `n` entries. Each bucket between the lowest and the highest
/// non-empty one has a bar.
pub fn render_bars(tally: &Tally, kind: TallyKind, n: usize) -> String {
    const MAX_BAR_WIDTH: u64 = 50;
    let mut out = String::new();
    for entry in tally.entries.iter().take(n) {
        let keys: Vec<String> = entry.keys.iter().map(ToString::to_string).collect();
        if !keys.is_empty() {
            out += &replace_control_characters(&keys.join(", "));
            out.push('\n');
        }
        let buckets = match kind {
            TallyKind::Linear(linear) => linear_buckets(entry, linear),
            _ => exponential_buckets(entry),
        };
        let used = |b: &(String, u64)| b.1 > 0;
        let first = buckets.iter().position(used).unwrap_or(0);
        let end = buckets.iter().rposition(used).map_or(0, |n| n + 1);
        let shown = &buckets[first.min(end)..end];
        let largest = shown.iter().map(|b| b.1).max().unwrap_or(1).max(1);
        let mut table = TextTable::new(&[
            ("", ColumnFormat::Right),
            ("", ColumnFormat::Right),
            ("", ColumnFormat::Left),
        ]);
        for (name, hits) in shown {
            let width = u128::from(*hits) * u128::from(MAX_BAR_WIDTH) / u128::from(largest);
            table.push_row([name, &format_count(*hits), &"█".repeat(width as usize)]);
        }
        for line in table.render(None).rows {
            out += &line;
            out.push('\n');
        }
        let avg = entry.sum as f64 / entry.count.max(1) as f64;
        out += &format!(
            "{} values, {avg:.1} on average, {} … {}\n",
            format_count(entry.count),
            entry.min,
            entry.max
        );
    }
    if tally.entries.len() > n {
        out += &format!("{n} of {} are shown\n", tally.entries.len());
    }
    if tally.rest.count > 0 {
        out += &format!("{} more found no room\n", format_count(tally.rest.count));
    }
    if out.is_empty() {
        out += "no values yet\n";
    }
    out.trim_end().to_string()
}

/// Returns the names and counts of the buckets of a histogram with exponential buckets.
fn exponential_buckets(entry: &TallyEntry) -> Vec<(String, u64)> {
    let mut buckets: Vec<(String, u64)> = Vec::new();
    for (n, hits) in entry.buckets.iter().enumerate() {
        let Some(from) = bucket_start(n) else {
            // The bucket of negative values is first.
            buckets.insert(0, ("below 0".into(), *hits));
            continue;
        };
        let next = bucket_start(n + 1).unwrap_or(1 << 63);
        let name = if next == from + 1 {
            from.to_string()
        } else {
            format!("{from} … {}", next - 1)
        };
        buckets.push((name, *hits));
    }
    buckets
}

/// Returns the names and counts of the buckets of a linear histogram.
fn linear_buckets(entry: &TallyEntry, linear: LinearBuckets) -> Vec<(String, u64)> {
    let name = |range: Option<(i64, i64)>| match range {
        None => format!("below {}", linear.from),
        Some((_, to)) if to < linear.from => format!("below {}", linear.from),
        Some((from, _)) if from == linear.end() => format!("{from} and above"),
        Some((from, to)) if from == to => from.to_string(),
        Some((from, to)) => format!("{from} … {to}"),
    };
    let names = linear.ranges().map(name);
    names.zip(entry.buckets.iter().copied()).collect()
}
