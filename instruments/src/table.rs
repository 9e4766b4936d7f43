//! Rows and events as aligned text that fits [`WIDTH`] columns.
//!
//! ```text
//!        hits  share  class              method     at      line
//!   1,234,567  61.2%  route.Edge         isMe(int)  f0       41
//!     782,000  38.8%  route.Netw…Heap    sift(int)  f2->f3  107
//!   2,016,567 in 2 rows
//! ```
//!
//! Rows come heaviest first: by hits, or for timers by total time. Long class names lose their middle, so
//! that both the top package and the simple name stay readable.

mod layout;
mod text;

pub use text::{count, duration, shorten, signature};

use crate::{Data, Event, Row, Tally, TallyKind, bucket_start};
use layout::{Align, Layout};

/// The widest line, in characters.
pub const WIDTH: usize = 100;

/// The heaviest `n` rows of one instrument as a table, with a last line that sums up all of them. The kind of
/// table follows the data; should kinds be mixed, there is one table for each.
pub fn render(rows: &[Row], n: usize) -> String {
    let mut tables = Vec::new();
    for same in [is_count, is_time, is_log] {
        let mut chosen: Vec<&Row> = rows.iter().filter(|row| same(&row.data)).collect();
        if chosen.is_empty() {
            continue;
        }
        chosen.sort_by(|a, b| {
            let heavier = b.data.weight().cmp(&a.data.weight());
            heavier.then_with(|| place_key(a).cmp(&place_key(b)))
        });
        tables.push(table(&chosen, n));
    }
    if tables.is_empty() {
        return "no points yet: nothing that matches has been loaded".to_owned();
    }
    tables.join("\n\n")
}

/// The newest `n` events of a value log, oldest first, under a line that sums up `rows` (those of the log).
pub fn render_events(rows: &[Row], events: &[Event], n: usize) -> String {
    let shown = events.get(events.len().saturating_sub(n)..).unwrap_or(&[]);
    let mut layout = Layout::new(&[
        ("time", Align::Right),
        ("thread", Align::Right),
        ("class", Align::Shrink),
        ("method", Align::Shrink),
        ("at", Align::Left),
        ("line", Align::Right),
        ("values", Align::Shrink),
    ]);
    for event in shown {
        let values: Vec<String> = event
            .values
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        layout.row(vec![
            duration(event.time_ns),
            event.thread.to_string(),
            event.class.clone(),
            text::signature(&event.method),
            at(event.fragment, None),
            line(event.line),
            values.join(" "),
        ]);
    }
    let (seen, dropped) = rows.iter().fold((0u64, 0u64), |(seen, dropped), row| {
        let lost = match row.data {
            Data::Log { dropped, .. } => dropped,
            _ => 0,
        };
        (
            seen.saturating_add(row.data.hits()),
            dropped.saturating_add(lost),
        )
    });
    let foot = format!(
        "{} shown of {} events, {} dropped",
        shown.len(),
        count(seen),
        count(dropped)
    );
    if shown.is_empty() {
        foot
    } else {
        layout.render(&foot)
    }
}

/// The `n` entries of a table of probes that come first (of the latest values: the newest), and a line that sums up all of them.
pub fn render_tally(tally: &Tally, kind: TallyKind, n: usize) -> String {
    let entries = &tally.entries;
    let keys = entries.iter().map(|e| e.keys.len()).max().unwrap_or(0);
    let (numbers, shown): (&[&str], _) = match kind {
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects => {
            (&["count"], &entries[..n.min(entries.len())])
        }
        TallyKind::Sums | TallyKind::Histogram => {
            let columns = &["count", "avg", "min", "max"];
            (columns, &entries[..n.min(entries.len())])
        }
        TallyKind::Last => {
            let newest = &entries[entries.len().saturating_sub(n)..];
            (&["ms", "thread"], newest)
        }
    };
    let mut columns: Vec<(&str, Align)> = numbers.iter().map(|c| (*c, Align::Right)).collect();
    let name = if kind == TallyKind::Last {
        "value"
    } else {
        "key"
    };
    columns.extend((0..keys).map(|_| (name, Align::Shrink)));
    let mut layout = Layout::new(&columns);
    for entry in shown {
        let mut cells = match (kind, entry.at) {
            (TallyKind::Last, at) => {
                let at = at.unwrap_or_default();
                let ms = at.time_ns as f64 / 1e6;
                vec![format!("{ms:.3}"), at.thread_id.to_string()]
            }
            (TallyKind::Count, _) => vec![count(entry.count)],
            _ => {
                let avg = entry.sum as f64 / entry.count.max(1) as f64;
                let [min, max] = [entry.min, entry.max].map(|x| x.to_string());
                vec![count(entry.count), format!("{avg:.1}"), min, max]
            }
        };
        let key = |k| entry.keys.get(k).map_or(String::new(), ToString::to_string);
        cells.extend((0..keys).map(key));
        layout.row(cells);
    }
    let all = entries.iter().fold(0u64, |n, e| n.saturating_add(e.count));
    let mut foot = match kind {
        TallyKind::Last => format!("{} values", count(all)),
        _ => format!("{} in {} entries", count(all), count(entries.len() as u64)),
    };
    if shown.len() < entries.len() {
        foot += &format!(", of which {} are shown", shown.len());
    }
    if tally.rest.count > 0 {
        foot += &format!("; {} more found no room", count(tally.rest.count));
    }
    if entries.is_empty() {
        foot
    } else {
        layout.render(&foot)
    }
}

/// All entries as comma-separated values (RFC 4180), with a line of names first.
pub fn render_csv(tally: &Tally, kind: TallyKind) -> String {
    let keys = tally.entries.iter().map(|e| e.keys.len()).max();
    let mut names: Vec<String> = (1..=keys.unwrap_or(0)).map(|n| format!("key{n}")).collect();
    let numbers: &[&str] = match kind {
        TallyKind::Sums | TallyKind::Histogram => &["count", "sum", "min", "max"],
        TallyKind::Last => &["number", "time_ns", "thread_id"],
        _ => &["count"],
    };
    names.extend(numbers.iter().map(ToString::to_string));
    let mut out = names.join(",") + "\r\n";
    for entry in &tally.entries {
        let mut cells: Vec<String> = entry
            .keys
            .iter()
            .map(|key| quoted(key.to_string()))
            .collect();
        cells.resize(keys.unwrap_or(0), String::new());
        match entry.at {
            Some(at) => cells.extend([
                at.number.to_string(),
                at.time_ns.to_string(),
                at.thread_id.to_string(),
            ]),
            None => cells.push(entry.count.to_string()),
        }
        if matches!(kind, TallyKind::Sums | TallyKind::Histogram) {
            cells.extend([entry.sum, entry.min, entry.max].map(|n| n.to_string()));
        }
        out += &cells.join(",");
        out += "\r\n";
    }
    out
}

fn quoted(cell: String) -> String {
    if cell.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

/// Histograms of the `n` entries that come first, a bar for each bucket between the least and the greatest that is not empty.
pub fn render_bars(tally: &Tally, n: usize) -> String {
    const WIDTH: u64 = 50;
    let mut out = String::new();
    for entry in tally.entries.iter().take(n) {
        let keys: Vec<String> = entry.keys.iter().map(ToString::to_string).collect();
        if !keys.is_empty() {
            out += &format!("{}\n", keys.join(", "));
        }
        let mut buckets: Vec<(String, u64)> = Vec::new();
        for (n, hits) in entry.buckets.iter().enumerate() {
            let Some(from) = bucket_start(n) else {
                // What is negative comes first.
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
        let used = |b: &(String, u64)| b.1 > 0;
        let first = buckets.iter().position(used).unwrap_or(0);
        let end = buckets.iter().rposition(used).map_or(0, |n| n + 1);
        let shown = &buckets[first.min(end)..end];
        let most = shown.iter().map(|b| b.1).max().unwrap_or(1).max(1);
        let names = shown.iter().map(|b| b.0.chars().count()).max().unwrap_or(0);
        let counts = shown.iter().map(|b| count(b.1).len()).max().unwrap_or(0);
        for (name, hits) in shown {
            let pad = names - name.chars().count();
            let bar =
                "█".repeat((u128::from(*hits) * u128::from(WIDTH) / u128::from(most)) as usize);
            let line = format!(
                "{}{name}  {:>counts$}  {bar}",
                " ".repeat(pad),
                count(*hits)
            );
            out += line.trim_end();
            out.push('\n');
        }
        let avg = entry.sum as f64 / entry.count.max(1) as f64;
        out += &format!(
            "{} values, {avg:.1} on average, {} … {}\n",
            count(entry.count),
            entry.min,
            entry.max
        );
    }
    if tally.entries.len() > n {
        out += &format!("{n} of {} are shown\n", tally.entries.len());
    }
    if tally.rest.count > 0 {
        out += &format!("{} more found no room\n", count(tally.rest.count));
    }
    if out.is_empty() {
        out += "no values yet\n";
    }
    out.trim_end().to_string()
}

fn is_count(data: &Data) -> bool {
    matches!(data, Data::Count { .. })
}

fn is_time(data: &Data) -> bool {
    matches!(data, Data::Time { .. })
}

fn is_log(data: &Data) -> bool {
    matches!(data, Data::Log { .. })
}

/// Orders equals, so that a table does not change from one printing to the next.
fn place_key(row: &Row) -> impl Ord + '_ {
    let what = row.what.as_deref();
    (
        &row.class,
        &row.method,
        row.fragment,
        row.to,
        row.line,
        what,
    )
}

/// A table of rows of one kind, which come sorted; there is at least one.
fn table(rows: &[&Row], n: usize) -> String {
    let figures: &[(&str, Align)] = match rows.first().map(|row| &row.data) {
        Some(Data::Time { .. }) => &[
            ("total", Align::Right),
            ("count", Align::Right),
            ("mean", Align::Right),
            ("min", Align::Right),
            ("max", Align::Right),
        ],
        Some(Data::Log { .. }) => &[("events", Align::Right), ("dropped", Align::Right)],
        _ => &[("hits", Align::Right), ("share", Align::Right)],
    };
    let place = [
        ("class", Align::Shrink),
        ("method", Align::Shrink),
        ("at", Align::Left),
        ("line", Align::Right),
    ];
    let what = [("what", Align::Shrink)];
    let has_what = rows.iter().take(n).any(|row| row.what.is_some());
    let what = if has_what { &what[..] } else { &[] };
    let columns: Vec<(&str, Align)> = figures.iter().chain(&place).chain(what).copied().collect();
    let mut layout = Layout::new(&columns);
    let total = rows
        .iter()
        .fold(0u64, |sum, row| sum.saturating_add(row.data.weight()));
    for row in rows.iter().take(n) {
        let mut cells = figures_of(&row.data, total);
        cells.push(row.class.clone());
        cells.push(text::signature(&row.method));
        cells.push(at(row.fragment, row.to));
        cells.push(line(row.line));
        cells.extend(has_what.then(|| row.what.clone().unwrap_or_default()));
        layout.row(cells);
    }
    let sum = match rows.first().map(|row| &row.data) {
        Some(Data::Time { .. }) => duration(total),
        _ => count(total),
    };
    let unit = if rows.len() == 1 { "row" } else { "rows" };
    let mut foot = format!("{sum} in {} {unit}", count(rows.len() as u64));
    if rows.len() > n {
        foot.push_str(&format!(", of which {} are shown", count(n as u64)));
    }
    layout.render(&foot)
}

fn figures_of(data: &Data, total: u64) -> Vec<String> {
    match *data {
        Data::Count { hits } => vec![count(hits), text::share(hits, total)],
        Data::Time {
            count: times,
            total_ns,
            min_ns,
            max_ns,
        } => {
            let or_none = |ns: u64| {
                if times == 0 {
                    "-".to_owned()
                } else {
                    duration(ns)
                }
            };
            vec![
                duration(total_ns),
                count(times),
                or_none(total_ns.checked_div(times).unwrap_or(0)),
                or_none(min_ns),
                or_none(max_ns),
            ]
        }
        Data::Log { events, dropped } => vec![count(events), count(dropped)],
    }
}

/// `f3`, `f3->f5`, or nothing for the whole method.
fn at(fragment: Option<u32>, to: Option<u32>) -> String {
    match (fragment, to) {
        (Some(from), Some(to)) => format!("f{from}->f{to}"),
        (Some(fragment), None) => format!("f{fragment}"),
        _ => String::new(),
    }
}

fn line(line: Option<u16>) -> String {
    line.map(|line| line.to_string()).unwrap_or_default()
}
